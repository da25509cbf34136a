"""Watches production model variants: buys few, well-chosen answers and publishes what they show."""
