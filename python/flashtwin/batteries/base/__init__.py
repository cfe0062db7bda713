"""What every battery is made of: its protocol, its parameters, and the registry."""
