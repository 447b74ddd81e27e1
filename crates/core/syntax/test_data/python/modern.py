#!/usr/bin/env python3
from __future__ import annotations

import abc
import enum
from typing import NamedTuple, Protocol, overload

import sqlalchemy.orm
from models import base


type Pair[A] = tuple[A, A]
type Name = str


class Color(enum.Enum):
    RED = 1
    GREEN = 2

    @classmethod
    def parse(cls, text: str) -> Color:
        return cls[text]


class Point(NamedTuple):
    x: int
    y: int = 0


class Shape(Protocol):
    def area(self) -> float: ...


class Stack[Item]:
    items: list[Item]

    def push(self, item: Item) -> None:  # on top
        self.items.append(item)

    @overload
    def get(self, index: int) -> Item: ...
    @overload
    def get(self, index: slice) -> list[Item]: ...
    def get(self, index):
        return self.items[index]


class Model(base.Model[Point], sqlalchemy.orm.Mixin):
    __tablename__ = "model"
    owner: base.Owner
    shape: Shape | None

    @abc.abstractmethod
    def save(self, session: sqlalchemy.orm.Session, *, colors: dict[str, Color]) -> None:
        session.add(self)
        self.owner.notify(Color.RED)
        super().save(session)

    @property
    @abc.abstractmethod
    def title(self) -> str: ...


def dispatch(event):
    match event:
        case Point(x=0):
            return origin()
        case base.Quit(code):
            return quit_with(code)
        case _:
            return (lambda value: fallback(value))(event)


def decorate(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        result = function(*args, **kwargs)
        return result

    return wrapper


async def main():
    stack: Stack[Point] = Stack()
    stack.push(Point(1))
    pairs = {name: build(name) for name in names()}
    shape = shapes.Square(2)
    area = shape.area()
    thread = Thread(target=dispatch, args=(area,))
    async for item in stream(pairs):
        await handle(item, *pairs)
    return thread


if True:
    def conditional():
        pass
else:
    def conditional():
        return 1
