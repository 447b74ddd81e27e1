"""Tasks that a worker takes from the message queue (celery)."""


def send_invoice_mail(message):
    """A consumer of the queue: sends the mail of one message."""
    return message.send()


async def drain_queue(queue):
    """Handles the messages of the queue one after another."""
    while message := await queue.get():
        send_invoice_mail(message)
