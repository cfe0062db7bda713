"""flashtwin measures SSDs from outside, infers what they hide, and simulates them."""

__version__ = "0.1.0"
