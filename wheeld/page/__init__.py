"""`wheeld page`: what people see of one wheel, in a browser. It reads what the wheel publishes, as any client does."""
