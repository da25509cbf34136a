"""Orders in letters, chats, forms, calls and notes, to be brought into one JSON object.

What is hard is what is hard in the trade: dates in several spellings, numbers as words, dozens, an
amount that is corrected later, a product that is only asked about, a field that is not there.
"""

import datetime as dt
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from dice import Dice, Item

MANIFEST = """\
name: json_extraction
description: Orders in plain words, to be brought into JSON with a schema
prompt:
  user: |-
    Extract the order from the text below as one JSON object with these fields:
    - customer: the name of who orders
    - city: where it is delivered to, null where the text does not say
    - delivery: the day of delivery as YYYY-MM-DD
    - express: true or false
    - items: a list, in the order of the text, of objects with
      product (one of lamp, chair, desk, shelf, rug, mirror, clock, vase),
      quantity (a whole number) and price (of one, in euros, null where the text does not say)
    Leave out what is not ordered. Where something is corrected, the correction counts.
    Answer with the JSON alone.

    {{ input }}
generation: {max_tokens: 512}
grader:
  kind: json
  fields:
    /customer: normalised
    /city: normalised
    /delivery: exact
    /express: exact
    /items: exact
  schema:
    type: object
    required: [customer, city, delivery, express, items]
    properties:
      customer: {type: string}
      city: {type: [string, "null"]}
      delivery: {type: string, pattern: '^\\d{4}-\\d\\d-\\d\\d$'}
      express: {type: boolean}
      items:
        type: array
        minItems: 1
        items:
          type: object
          required: [product, quantity, price]
          properties:
            product: {enum: [lamp, chair, desk, shelf, rug, mirror, clock, vase]}
            quantity: {type: integer, minimum: 1}
            price: {type: [number, "null"]}
"""
LEVELS = (1, 2, 3)
ITEMS_PER_LEVEL = 14
FIRST_NAMES = (
    "Ada",
    "Bela",
    "Carlos",
    "Dunja",
    "Emre",
    "Fiona",
    "Giulia",
    "Hugo",
    "Irina",
    "Jonas",
)
LAST_NAMES = ("Abel", "Brandt", "Costa", "Dubois", "Eriksen", "Ferrari", "Garcia", "Horvat", "Ito")
CITIES = (
    "Aarhus",
    "Bilbao",
    "Cork",
    "Dresden",
    "Espoo",
    "Florence",
    "Ghent",
    "Haarlem",
    "Innsbruck",
)
PRODUCTS = {
    "lamp": "lamps",
    "chair": "chairs",
    "desk": "desks",
    "shelf": "shelves",
    "rug": "rugs",
    "mirror": "mirrors",
    "clock": "clocks",
    "vase": "vases",
}
WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven")
DOZEN = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One product of an order; price in cents, of one, or None."""

    product: str
    quantity: int
    price: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be found in a text; `mentioned` is a product that is not ordered."""

    customer: str
    city: str | None
    day: dt.date
    express: bool
    lines: tuple[Line, ...]
    mentioned: str


def items() -> Iterator[Item]:
    """Every item, form by form, from easy to hard."""
    for form, write in FORMS.items():
        dice = Dice(f"json_extraction/{form}")
        for number in range(len(LEVELS) * ITEMS_PER_LEVEL):
            level = LEVELS[number // ITEMS_PER_LEVEL]
            order = _order(dice, level)
            yield {
                "id": f"{form}-{number + 1:02}",
                "input": write(dice, order, level),
                "target": json.dumps(_target(order)),
                "group": form,
                "metadata": {"level": level},
            }


def _order(dice: Dice, level: int) -> Order:
    products = dice.shuffled([*PRODUCTS])
    lines = tuple(
        Line(
            product=product,
            quantity=dice.roll(1, 4) if level == 1 else dice.pick((2, 3, 5, 7, 9, 11, DOZEN)),
            price=None if level > 1 and dice.roll(1, 3) == 1 else 50 * dice.roll(9, 400),
        )
        for product in products[: dice.roll(1, level + 1)]
    )
    return Order(
        customer=f"{dice.pick(FIRST_NAMES)} {dice.pick(LAST_NAMES)}",
        city=None if level > 1 and dice.roll(1, 4) == 1 else dice.pick(CITIES),
        day=dt.date(2027, dice.roll(1, 12), dice.roll(13, 28)),
        express=dice.roll(1, 2) == 1,
        lines=lines,
        mentioned=products[-1],
    )


def _target(order: Order) -> dict[str, Any]:
    return {
        "customer": order.customer,
        "city": order.city,
        "delivery": order.day.isoformat(),
        "express": order.express,
        "items": [
            {
                "product": line.product,
                "quantity": line.quantity,
                "price": None if line.price is None else line.price / 100,
            }
            for line in order.lines
        ],
    }


def _day(dice: Dice, order: Order, level: int) -> str:
    """A date in one of its spellings; that of the easy ones leaves no doubt."""
    day = order.day
    if level == 1:
        return day.isoformat()
    ending = {1: "st", 21: "st", 2: "nd", 22: "nd", 3: "rd", 23: "rd"}.get(day.day, "th")
    spellings = (
        f"{day.day} {day:%B} {day.year}",
        f"{day:%B} {day.day}{ending}, {day.year}",
        f"{day.day:02}.{day.month:02}.{day.year}",
        f"{day.month}/{day.day}/{day.year}",
    )
    return dice.pick(spellings)


def _amount(line: Line, level: int) -> str:
    """`3 lamps`, or `three lamps` and `a dozen lamps` where it is harder."""
    noun = line.product if line.quantity == 1 else PRODUCTS[line.product]
    if level == 1:
        return f"{line.quantity} {noun}"
    number = "a dozen" if line.quantity == DOZEN else WORDS[line.quantity - 1]
    return f"{number} {noun}"


def _priced(line: Line, level: int) -> str:
    if line.price is None:
        return _amount(line, level)
    euros, cents = divmod(line.price, 100)
    price = f"{euros} euros" if cents == 0 else f"{euros}.{cents:02} euros"
    return f"{_amount(line, level)} at {price}" + ("" if line.quantity == 1 else " each")


def _listed(order: Order, level: int) -> str:
    *before, last = (_priced(line, level) for line in order.lines)
    return f"{', '.join(before)} and {last}" if before else last


def _correction(order: Order, dice: Dice) -> tuple[Order, str]:
    """The order as it was said at first, and the sentence that sets it right."""
    first, *rest = order.lines
    wrong = dice.pick([n for n in range(2, 11) if n != first.quantity])
    said = Line(product=first.product, quantity=wrong, price=first.price)
    before = Order(
        customer=order.customer,
        city=order.city,
        day=order.day,
        express=order.express,
        lines=(said, *rest),
        mentioned=order.mentioned,
    )
    noun = first.product if first.quantity == 1 else PRODUCTS[first.product]
    return before, f"{first.quantity} {noun}, not {wrong}"


def letter(dice: Dice, order: Order, level: int) -> str:
    to = f" to our house in {order.city}" if order.city else ""
    haste = "Please send it by express." if order.express else "There is no need for express."
    text = f"Dear Sir or Madam,\n\nplease deliver {_listed(order, level)}{to}"
    text += f" on {_day(dice, order, level)}. {haste}"
    if level == LEVELS[-1]:
        text += f" The {order.mentioned} that we bought last year still serves us well."
    return f"{text}\n\nYours faithfully,\n{order.customer}"


def chat(dice: Dice, order: Order, level: int) -> str:
    said, correction = _correction(order, dice) if level == LEVELS[-1] else (order, "")
    turns = [
        f"{order.customer}: hi, can i get {_listed(said, level)}?",
        "Shop: Sure. When do you need it?",
        f"{order.customer}: {_day(dice, order, level)}" + (", express" if order.express else ""),
        "Shop: And where to?" if order.city else "Shop: To the usual address?",
        f"{order.customer}: " + (order.city or "yes please"),
    ]
    if correction:
        turns += [f"{order.customer}: oh wait, it's {correction}", "Shop: Noted."]
    if not order.express:
        turns.append("Shop: It will come by standard delivery.")
    return "\n".join(turns)


def form(dice: Dice, order: Order, level: int) -> str:
    rows = [f"  {_priced(line, level)}" for line in order.lines]
    if level == LEVELS[-1]:
        rows.append(f"  {PRODUCTS[order.mentioned]}: crossed out")
    fields = [
        f"Name: {order.customer}",
        f"Place of delivery: {order.city or '-'}",
        f"Day of delivery: {_day(dice, order, level)}",
        f"Express: [{'x' if order.express else ' '}] yes [{' ' if order.express else 'x'}] no",
        "Order:",
        *rows,
        f"Received on {order.day - dt.timedelta(days=dice.roll(5, 12))}",
    ]
    return "\n".join(fields)


def call(dice: Dice, order: Order, level: int) -> str:
    said, correction = _correction(order, dice) if level == LEVELS[-1] else (order, "")
    where = f" It goes to {order.city}." if order.city else " The address is in our files."
    how = " They want it by express." if order.express else " Standard delivery is fine."
    text = f"{order.customer} called and ordered {_listed(said, level)}."
    text += f" Delivery on {_day(dice, order, level)}.{where}{how}"
    if correction:
        text += f" They asked what a {order.mentioned} costs, but did not take one."
        text += f" Called again five minutes later: {correction}."
    return text


def note(dice: Dice, order: Order, level: int) -> str:
    parts = [
        f"for {order.customer}",
        f"by {_day(dice, order, level)}",
        *([f"to {order.city}"] if order.city else []),
        "EXPRESS" if order.express else "no express",
        *(_priced(line, level) for line in order.lines),
    ]
    if level == LEVELS[-1]:
        parts.append(f"NO {PRODUCTS[order.mentioned]} this time")
    head, *rest = parts
    items_at = len(rest) - len(order.lines) - (level == LEVELS[-1])
    return " / ".join([head, *dice.shuffled(rest[:items_at]), *rest[items_at:]])


FORMS: dict[str, Callable[[Dice, Order, int], str]] = {
    "letter": letter,
    "chat": chat,
    "form": form,
    "call": call,
    "note": note,
}
