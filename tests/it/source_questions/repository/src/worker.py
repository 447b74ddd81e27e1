from queue.tasks import drain_queue


class Worker:
    """Runs the tasks of the queue."""

    def run(self):
        drain_queue(self)
