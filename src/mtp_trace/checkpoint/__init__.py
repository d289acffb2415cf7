"""What a model folder says of itself: its configuration, its tensors, its quantization. Never a tensor is read.

``folder`` finds the model and reads config.json; ``tensors`` tells which tensors a server would find; ``quantization``
tells how they are stored and which modules are left alone; ``head`` counts what a set of them costs. The other modules
serve these four.
"""
