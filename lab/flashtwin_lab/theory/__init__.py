"""Closed forms against drives that are built for them."""
