"""Figures that anybody can measure again; each module is one command."""
