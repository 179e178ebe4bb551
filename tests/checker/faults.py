"""What is wrong."""

class Faults:
    """Collects what is wrong."""

    def __init__(self):
        self.lines = []
        self.checks = 0

    def expect(self, condition, text, *values):
        self.checks += 1
        if not condition:
            self.lines.append(text % values)

    def equal(self, found, expected, text, *values):
        self.expect(found == expected, text + ": found %r, expected %r", *values, found, expected)
