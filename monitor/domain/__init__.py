"""The words of the product as plain values; imports the standard library only."""
