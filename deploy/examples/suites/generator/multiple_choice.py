"""Questions with four choices, of which the wrong ones are what a slip would lead to.

The right answer's letter is drawn anew for each item, so that no letter is worth guessing.
"""

import datetime as dt
import itertools
from collections.abc import Callable, Iterator, Sequence

from dice import Dice, Item

MANIFEST = """\
name: multiple_choice
description: Four choices each, on facts and on short computations; wrong ones are plausible
prompt:
  user: |-
    {{ input }}

    {% for letter, text in choices %}{{ letter }}) {{ text }}
    {% endfor %}
    Think it through if you need to. End with a line "ANSWER: " and the letter.
generation: {max_tokens: 256}
grader: {kind: choice}
"""
PER_GROUP = 30
CHOICES = 4

Question = tuple[str, str, Sequence[str], int]
"""What is asked, the right answer, at least three wrong ones, and how hard it is from 1 to 3."""


def items() -> Iterator[Item]:
    """Every item, group by group."""
    for group, make in GROUPS.items():
        dice = Dice(f"multiple_choice/{group}")
        asked: set[tuple[str, str]] = set()
        while len(asked) < PER_GROUP:
            question, right, wrong, level = make(dice, len(asked))
            others = [each for each in dict.fromkeys(wrong) if each != right][: CHOICES - 1]
            if (question, right) in asked or len(others) < CHOICES - 1:
                continue
            asked.add((question, right))
            choices = dice.shuffled([right, *others])
            yield {
                "id": f"{group}-{len(asked):02}",
                "input": question,
                "choices": choices,
                "target": "ABCD"[choices.index(right)],
                "group": group,
                "metadata": {"level": level},
            }


CAPITALS = {
    1: (
        ("Australia", "Canberra", "Sydney", "Melbourne", "Brisbane"),
        ("Brazil", "Brasilia", "Rio de Janeiro", "Sao Paulo", "Salvador"),
        ("Canada", "Ottawa", "Toronto", "Montreal", "Vancouver"),
        ("China", "Beijing", "Shanghai", "Guangzhou", "Chongqing"),
        ("Germany", "Berlin", "Hamburg", "Munich", "Frankfurt"),
        ("India", "New Delhi", "Mumbai", "Kolkata", "Bengaluru"),
        ("Italy", "Rome", "Milan", "Naples", "Turin"),
        ("New Zealand", "Wellington", "Auckland", "Christchurch", "Hamilton"),
        ("South Korea", "Seoul", "Busan", "Incheon", "Daegu"),
        ("Spain", "Madrid", "Barcelona", "Valencia", "Seville"),
        ("Switzerland", "Bern", "Zurich", "Geneva", "Basel"),
        ("Turkey", "Ankara", "Istanbul", "Izmir", "Bursa"),
        ("the United States", "Washington, D.C.", "New York", "Los Angeles", "Chicago"),
    ),
    2: (
        ("Burkina Faso", "Ouagadougou", "Bobo-Dioulasso", "Koudougou", "Banfora"),
        ("Cameroon", "Yaounde", "Douala", "Garoua", "Bamenda"),
        ("Ecuador", "Quito", "Guayaquil", "Cuenca", "Ambato"),
        ("Honduras", "Tegucigalpa", "San Pedro Sula", "La Ceiba", "Choloma"),
        ("Kazakhstan", "Astana", "Almaty", "Shymkent", "Karaganda"),
        ("Morocco", "Rabat", "Casablanca", "Marrakesh", "Fez"),
        ("Nigeria", "Abuja", "Lagos", "Kano", "Ibadan"),
        ("Pakistan", "Islamabad", "Karachi", "Lahore", "Faisalabad"),
        ("Syria", "Damascus", "Aleppo", "Homs", "Latakia"),
        ("the United Arab Emirates", "Abu Dhabi", "Dubai", "Sharjah", "Al Ain"),
        ("Vietnam", "Hanoi", "Ho Chi Minh City", "Da Nang", "Hai Phong"),
    ),
    3: (
        ("Bolivia, by its constitution", "Sucre", "La Paz", "Santa Cruz", "Cochabamba"),
        ("Ivory Coast", "Yamoussoukro", "Abidjan", "Bouake", "Daloa"),
        ("Liechtenstein", "Vaduz", "Schaan", "Balzers", "Triesen"),
        ("Myanmar", "Naypyidaw", "Yangon", "Mandalay", "Mawlamyine"),
        ("Palau", "Ngerulmud", "Koror", "Airai", "Peleliu"),
        ("Tanzania", "Dodoma", "Dar es Salaam", "Mwanza", "Arusha"),
    ),
}
"""By level: country, capital, and larger or better known cities of the same country."""

ELEMENTS = {
    "Ag": "silver", "Al": "aluminium", "Ar": "argon", "As": "arsenic", "Au": "gold", "B": "boron",
    "Ba": "barium", "Be": "beryllium", "Bi": "bismuth", "Br": "bromine", "Ca": "calcium",
    "Cd": "cadmium", "Cl": "chlorine", "Co": "cobalt", "Cr": "chromium", "Cs": "caesium",
    "Cu": "copper", "Fe": "iron", "Hg": "mercury", "K": "potassium", "Kr": "krypton",
    "Mg": "magnesium", "Mn": "manganese", "Mo": "molybdenum", "Na": "sodium", "Nb": "niobium",
    "Ni": "nickel", "P": "phosphorus", "Pb": "lead", "Pt": "platinum", "Sb": "antimony",
    "Sn": "tin", "Ti": "titanium", "W": "tungsten", "Zn": "zinc", "Zr": "zirconium",
}  # fmt: skip
# Their symbols do not come from the English name.
LATIN = {"Ag", "Au", "Cu", "Fe", "Hg", "K", "Na", "Pb", "Sb", "Sn", "W"}
KINDS = {
    "metal": ("copper", "zinc", "nickel", "titanium"),
    "noble gas": ("helium", "neon", "argon", "xenon"),
    "reptile": ("gecko", "tortoise", "cobra", "iguana"),
    "amphibian": ("newt", "toad", "salamander", "axolotl"),
    "fish": ("herring", "trout", "shark", "seahorse"),
    "mammal": ("dolphin", "bat", "otter", "whale"),
    "bird": ("penguin", "ostrich", "kiwi", "heron"),
    "insect": ("wasp", "beetle", "mantis", "moth"),
    "arachnid": ("scorpion", "tick", "tarantula", "mite"),
    "string instrument": ("cello", "lute", "harp", "banjo"),
    "woodwind instrument": ("oboe", "clarinet", "bassoon", "flute"),
    "brass instrument": ("tuba", "trombone", "cornet", "bugle"),
    "root vegetable": ("carrot", "turnip", "parsnip", "beetroot"),
    "legume": ("lentil", "chickpea", "peanut", "soybean"),
    "citrus fruit": ("lime", "pomelo", "kumquat", "tangerine"),
}
RELATED = (
    ("metal", "noble gas"),
    ("reptile", "amphibian"),
    ("fish", "mammal"),
    ("insect", "arachnid"),
    ("string instrument", "woodwind instrument"),
    ("brass instrument", "woodwind instrument"),
    ("root vegetable", "legume"),
    ("bird", "mammal"),
    ("citrus fruit", "root vegetable"),
)
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
WORDS = ("lantern", "harbour", "thicket", "marble", "saffron", "voyage", "plinth", "orchard")
PEOPLE = ("Ada", "Ben", "Chloe", "Deniz", "Emil", "Farah", "Goran", "Hana")


def capitals(_dice: Dice, number: int) -> Question:
    listed = [(level, row) for level, rows in CAPITALS.items() for row in rows]
    level, (country, capital, *others) = listed[number]
    return f"What is the capital of {country}?", capital, others, level


def elements(dice: Dice, number: int) -> Question:
    symbol = [*ELEMENTS][number]
    name, initial = ELEMENTS[symbol], symbol[0].lower()
    alike = [other for other in ELEMENTS.values() if other.startswith(initial) and other != name]
    others = dice.shuffled([other for other in ELEMENTS.values() if other != name])
    question = f"Which element has the symbol {symbol}?"
    return question, name, [*dice.shuffled(alike), *others], 2 if symbol in LATIN else 1


def kinds(dice: Dice, number: int) -> Question:
    wanted, near = dice.shuffled(RELATED[number % len(RELATED)])
    article = "an" if wanted[0] in "aeiou" else "a"
    question = f"Which of these is {article} {wanted}?"
    return question, dice.pick(KINDS[wanted]), dice.shuffled(KINDS[near]), 1


def python(dice: Dice, number: int) -> Question:
    first, second = dice.roll(5, 60), dice.roll(3, 9)
    match number % 5:
        case 0:
            return _slice(dice)
        case 1:
            code, right, level = f"{first} // {second}", first // second, 1
            slips = [str(first % second), f"{first / second:.2f}"]
        case 2:
            code, right, level = f"-{first} // {second}", -first // second, 3
            slips = [str(right + 1), str(-(first % second))]
        case 3:
            code, right, level = f"-{first} % {second}", -first % second, 3
            slips = [str(-(first % second)), str(first % second)]
        case _:
            code, right, level = f"sum(range({second}))", sum(range(second)), 2
            slips = [str(right + second), str(second)]
    beside = [str(right + 1), str(right - 1), str(right + 2)]
    return f"What does Python show for `{code}`?", str(right), [*slips, *beside], level


def _slice(dice: Dice) -> Question:
    word, start, length = dice.pick(WORDS), dice.roll(0, 3), dice.roll(2, 3)
    end = start + length
    wrong = [word[start : end + 1], word[start + 1 : end + 1], word[: end - 1], word[:length]]
    question = f'What does Python show for `"{word}"[{start}:{end}]`, without the quotes?'
    return question, word[start:end], wrong, 2


def bases(dice: Dice, number: int) -> Question:
    value = dice.roll(9, 31) if number % 3 == 0 else dice.roll(32, 250)
    slips = [value - 1, value + 1, value ^ 4, value ^ 2, value + 16]
    match number % 3:
        case 0:
            question = f"What is the decimal number {value} in binary?"
            return question, f"{value:b}", [f"{slip:b}" for slip in slips[2:] + slips[:2]], 1
        case 1:
            question = f"What is the hexadecimal number {value:X} in decimal?"
            return question, str(value), [*map(str, [value - 16, *slips])], 2
        case _:
            question = f"What is the binary number {value:b} in hexadecimal?"
            return question, f"{value:X}", [f"{slip:X}" for slip in slips], 3


def dates(dice: Dice, number: int) -> Question:
    if number % 2 == 0:
        today, days = dice.roll(0, 6), dice.roll(8, 40 + 20 * number)
        right = (today + days) % 7
        question = f"Today is {DAYS[today]}. Which day is it {days} days from now?"
        wrong = [DAYS[(right + slip) % 7] for slip in (1, 6, 2, 5)]
        return question, DAYS[right], wrong, 1 if number < PER_GROUP // 2 else 2
    start = dt.date(2023 + number % 3, dice.roll(1, 12), dice.roll(1, 28))
    days = dice.roll(20, 90)
    ends = [start + dt.timedelta(days=days + slip) for slip in (0, 1, -1, 2, -2)]
    right_date, *others = (f"{end.day} {end:%B} {end.year}" for end in ends)
    question = f"Which date is {days} days after {start.day} {start:%B} {start.year}?"
    return question, right_date, others, 3


def order(dice: Dice, number: int) -> Question:
    people = dice.shuffled(PEOPLE)[: 4 + number % 3]
    pairs = [
        f"{taller} is taller than {smaller}." for taller, smaller in itertools.pairwise(people)
    ]
    clues = " ".join(dice.shuffled(pairs))
    place, word = dice.pick([(0, "tallest"), (-1, "smallest"), (1, "second tallest")])
    others = dice.shuffled([name for name in people if name != people[place]])
    return f"{clues} Who is the {word}?", people[place], others, 1 + number % 3


def shapes(dice: Dice, number: int) -> Question:
    long, short = dice.roll(6, 30), dice.roll(2, 12)
    match number % 3:
        case 0:
            question = f"A rectangle is {long} cm long and {short} cm wide. What is its area?"
            right, slips = long * short, (2 * (long + short), long + short, long * short // 2 + 1)
            return question, f"{right} square cm", [f"{slip} square cm" for slip in slips], 1
        case 1:
            question = f"A garden is {long} m long and {short} m wide. How long is its fence?"
            right, slips = 2 * (long + short), (long * short, long + short, 2 * long + short)
            return question, f"{right} m", [f"{slip} m" for slip in slips], 2
        case _:
            base = 2 * short
            question = f"What is the area of a triangle of base {base} cm and height {long} cm?"
            right, slips = short * long, (base * long, base + long, 2 * base * long)
            return question, f"{right} square cm", [f"{slip} square cm" for slip in slips], 2


GROUPS: dict[str, Callable[[Dice, int], Question]] = {
    "capitals": capitals,
    "elements": elements,
    "kinds": kinds,
    "python": python,
    "bases": bases,
    "dates": dates,
    "order": order,
    "shapes": shapes,
}
