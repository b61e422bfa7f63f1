"""What a GPU does over and over, recorded once as a CUDA graph and replayed from then on.

A layer of these networks keeps a large GPU busy for some ten microseconds, and Python needs as long
to ask for it.  A graph is asked for as a whole.
"""

import torch

WARM = 3  # calls before one is recorded: libraries and optimisers set up what they need


class Replayed:
    """A function of tensors on a GPU, always of the same shapes, that is replayed once it is warm.

    What it returns is overwritten by the next call.  A replay reads and writes the tensors that it
    did when it was recorded, weights and moments included: `forget` it where others take their
    place, and where a number of Python that it uses has changed.
    """

    def __init__(self, task):
        self.task, self.stream = task, torch.cuda.Stream()
        self.forget()

    def forget(self):
        """Record anew."""
        self.calls, self.graph, self.inputs, self.output = 0, None, (), None

    def __call__(self, *inputs):
        """Do the task; the output is that of the task, overwritten by the next call."""
        if self.graph is None and self.calls < WARM:
            self.calls += 1
            return self._beside(inputs)
        if self.graph is None:
            self.inputs, self.graph = inputs, torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph, stream=self.stream):
                self.output = self.task(*inputs)
        for own, given in zip(self.inputs, inputs, strict=True):
            own.copy_(given)
        self.graph.replay()
        return self.output

    def _beside(self, inputs):
        """Call the task on the stream that it is recorded on, as its gradients need it."""
        here = torch.cuda.current_stream()
        self.stream.wait_stream(here)
        with torch.cuda.stream(self.stream):
            found = self.task(*inputs)
        here.wait_stream(self.stream)
        return found
