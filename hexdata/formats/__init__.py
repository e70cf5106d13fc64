"""What other Hex programs read and write."""
