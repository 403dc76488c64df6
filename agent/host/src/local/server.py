"""Serves a model over HTTP: the arguments are its file and name, port, context, threads, and the file with the API key."""

import sys
import threading

import xllamacpp

model, name, port, context, threads, key = sys.argv[1:]
parameters = xllamacpp.CommonParams()
parameters.model.path = model
parameters.model_alias = {name}
parameters.hostnames = ["127.0.0.1"]
parameters.port = int(port)
parameters.n_ctx = int(context)
parameters.n_parallel = 1
parameters.cpuparams.n_threads = int(threads)
parameters.cpuparams_batch.n_threads = int(threads)
parameters.ui = False
with open(key, encoding="ascii") as file:
    parameters.api_keys = [file.read().strip()]
server = xllamacpp.Server(parameters)
threading.Event().wait()
