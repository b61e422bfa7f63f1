"""What belongs to the reader: their copies of the notebooks, and how far they have come."""
