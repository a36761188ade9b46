"""The pure heart: what happened, what may happen, and what the model is sent next."""
