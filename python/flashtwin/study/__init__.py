"""Many runs, one question: sweeps, validation, theory."""
