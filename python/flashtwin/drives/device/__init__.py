"""Block devices: what is known of one, why it is left alone, and the drive that is measured."""
