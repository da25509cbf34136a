"""Outcomes of earlier models, imported, kept, and fitted into what guides the next evaluation."""
