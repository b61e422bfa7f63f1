"""What people see and touch: boards, plots, widgets."""
