class Glob:
    name = "glob"

    def __init__(self, w, j):
        pass
