"""Arithmetic with answers in free text: bare sums, stories, and quantities with units.

Each group has four levels, from what is done in the head to what takes several careful steps.
Units are worth what they are in millimetres, milligrams and seconds, which no question asks for: so
a bare number can be right beside one with its unit, without 1.5 m being right for 1.5 km.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction

from dice import Dice, Item

MANIFEST = """\
name: arithmetic
description: Arithmetic in words and symbols, with units, in four levels
prompt:
  user: |-
    {{ input }}

    Work it out step by step if you need to. End with a line "ANSWER: " and the result.
generation: {max_tokens: 512}
grader:
  kind: numeric
  units:
    {km: 1000000, kilometres: 1000000, kilometers: 1000000, m: 1000, metres: 1000, meters: 1000,
     cm: 10, centimetres: 10, centimeters: 10,
     kg: 1000000, kilograms: 1000000, g: 1000, grams: 1000,
     h: 3600, hours: 3600, hour: 3600, min: 60, minutes: 60}
"""
LEVELS = (1, 2, 3, 4)
ITEMS_PER_LEVEL = 5
NAMES = ("Ada", "Ben", "Chloe", "Deniz", "Emil", "Farah", "Goran", "Hana", "Ivo", "Jun")

Question = tuple[str, str, str]
"""What is asked, the result, and its unit or nothing."""


def items() -> Iterator[Item]:
    """Every item, group by group, from easy to hard."""
    asked: set[str] = set()
    for group, make in GROUPS.items():
        dice = Dice(f"arithmetic/{group}")
        number = 0
        for level in LEVELS:
            made = 0
            while made < ITEMS_PER_LEVEL:
                question, result, unit = make(dice, level)
                if question in asked:
                    continue
                asked.add(question)
                made, number = made + 1, number + 1
                yield {
                    "id": f"{group}-{number:02}",
                    "input": question,
                    "target": [f"{result} {unit}", result] if unit else result,
                    "group": group,
                    "metadata": {"level": level},
                }


def plain(number: Fraction) -> str:
    """A number as people write it: whole, with a point, or as a fraction."""
    if number.denominator == 1:
        return str(number.numerator)
    places = next((n for n in range(1, 7) if (number * 10**n).denominator == 1), None)
    if places is None:
        return f"{number.numerator}/{number.denominator}"
    return f"{float(number):.{places}f}"


def grouped(number: int) -> str:
    """A large number with commas, as in the newspaper."""
    return f"{number:,}"


def addition(dice: Dice, level: int) -> Question:
    low, high = 10 ** max(1, level), 10 ** (level + 1) * (level + 1) // 2 - 1
    first, second = dice.roll(low, high), dice.roll(low, high)
    forms = (
        f"What is {first} + {second}?",
        f"Add {grouped(second)} to {grouped(first)}.",
        f"A library of {grouped(first)} books buys {grouped(second)} more. How many are that?",
        f"One ferry carried {grouped(first)} people, one {grouped(second)}. How many were there?",
    )
    return dice.pick(forms), str(first + second), ""


def subtraction(dice: Dice, level: int) -> Question:
    high = 10 ** (level + 1)
    first, second = dice.roll(high // 2, high), dice.roll(high // 10, high // 2)
    if level == LEVELS[-1]:
        negative = (f"What is {second} - {first}?", f"Subtract {grouped(first)} from {second}.")
        return dice.pick(negative), str(second - first), ""
    name = dice.pick(NAMES)
    forms = (
        f"What is {first} - {second}?",
        f"Take {second} away from {first}. What is left?",
        f"{name} had {first} stamps and gave {second} of them away. How many are left?",
        f"A tank holds {first} litres. After {second} litres have leaked out, how many remain?",
    )
    return dice.pick(forms), str(first - second), ""


def multiplication(dice: Dice, level: int) -> Question:
    least = {1: (3, 11), 2: (11, 11), 3: (11, 101), 4: (101, 101)}[level]
    first, second = (dice.roll(low, 9 * low) for low in least)
    forms = (
        f"What is {first} x {second}?",
        f"Multiply {second} by {first}.",
        f"A hall has {first} rows of {second} seats. How many seats is that?",
        f"{first} lorries bring {second} crates each. How many crates arrive?",
    )
    return dice.pick(forms), str(first * second), ""


def division(dice: Dice, level: int) -> Question:
    if level == LEVELS[-1]:
        divisor = dice.pick((8, 16, 20, 25, 40))
        dividend = divisor * dice.roll(11, 99) + dice.roll(1, divisor - 1)
        text = f"What is {dividend} / {divisor} as a decimal?"
        return text, plain(Fraction(dividend, divisor)), ""
    divisor, result = dice.roll(3, 6 * level + 6), dice.roll(5**level, 9 * 5**level)
    dividend = divisor * result
    forms = (
        f"What is {dividend} / {divisor}?",
        f"Divide {grouped(dividend)} by {divisor}.",
        f"{grouped(dividend)} apples go into boxes of {divisor}. How many boxes are filled?",
    )
    return dice.pick(forms), str(result), ""


def percentages(dice: Dice, level: int) -> Question:
    share = dice.pick({1: (10, 50, 25), 2: (5, 20, 30, 75), 3: (4, 12, 35), 4: (6, 15, 35)}[level])
    base = 20 * dice.roll(2 * level, 30 * level)
    part = Fraction(base * share, 100)
    match level:
        case 1 | 2:
            return f"What is {share}% of {base}?", plain(part), ""
        case 3:
            tip = (
                f"A bill of {base} dollars comes with a tip of {share}%. What is paid, in dollars?"
            )
            sale = f"A bike of {base} euros is reduced by {share}%. What does it cost, in euros?"
            text, result = dice.pick(((tip, base + part), (sale, base - part)))
            return text, plain(result), ""
        case _:
            more = dice.pick((10, 20))
            text = (
                f"A coat costs {base} euros. It gets {more}% dearer, and then {share}% cheaper."
                " How many euros does it cost in the end?"
            )
            price = base * Fraction(100 + more, 100) * Fraction(100 - share, 100)
            return text, plain(price), ""


def fractions(dice: Dice, level: int) -> Question:
    if level == 1:
        parts, each = dice.roll(3, 9), dice.roll(4, 20)
        return f"What is 1/{parts} of {parts * each}?", str(each), ""
    first = Fraction(dice.roll(1, 2 * level), dice.roll(3, 4 + 2 * level))
    second = Fraction(dice.roll(1, 2 * level), dice.roll(3, 4 + 2 * level))
    sign, result = dice.pick((("+", first + second), ("-", first - second), ("x", first * second)))
    asked = f"What is {first} {sign} {second}"
    if level == LEVELS[-1]:
        third = Fraction(1, dice.roll(2, 5))
        asked, result = f"What is ({first} {sign} {second}) divided by {third}", result / third
    kind = "a whole number" if result.denominator == 1 else "a fraction in lowest terms"
    return f"{asked}, as {kind}?", str(result), ""


def lengths(dice: Dice, level: int) -> Question:
    whole, rest, laps = dice.roll(2, 9 * level), 10 * dice.roll(5, 95), dice.roll(3, 4 * level)
    metres, run = (
        1000 * whole + rest,
        f"A lap is {rest} m long. {dice.pick(NAMES)} runs {laps} laps",
    )
    match level:
        case 1:
            return f"How many metres are {whole} km and {rest} m?", str(metres), "m"
        case 2:
            text = f"A path is {metres} m long. How many kilometres is that?"
            return text, plain(Fraction(metres, 1000)), "km"
        case 3:
            text = f"{run}. How many kilometres is that?"
            return text, plain(Fraction(laps * rest, 1000)), "km"
        case _:
            text = f"{run} and then walks {metres} m. How many kilometres is that in all?"
            return text, plain(Fraction(laps * rest + metres, 1000)), "km"


def weights(dice: Dice, level: int) -> Question:
    kilograms, grams = dice.roll(1, 5 * level), 50 * dice.roll(2, 18)
    count = dice.roll(2, 3 * level)
    total, jar = Fraction(count * grams, 1000), f"A jar weighs {grams} g."
    match level:
        case 1:
            text = f"How many grams are {kilograms} kg and {grams} g?"
            return text, str(1000 * kilograms + grams), "g"
        case 2:
            return f"{jar} How many grams do {count} of them weigh?", str(count * grams), "g"
        case 3:
            return f"{jar} How many kilograms do {count} of them weigh?", plain(total), "kg"
        case _:
            text = f"{jar} {count} of them stand in a crate that weighs {kilograms} kg when empty."
            return f"{text} How many kilograms is that in all?", plain(total + kilograms), "kg"


def durations(dice: Dice, level: int) -> Question:
    hours, minutes = dice.roll(1, 9), dice.pick((5, 15, 20, 25, 35, 40, 45, 50))
    count, pause, lesson = dice.roll(3, 9), dice.roll(3, 12), 5 * dice.roll(5, 17)
    match level:
        case 1:
            text = f"How many minutes are {hours} h and {minutes} min?"
            return text, str(60 * hours + minutes), "minutes"
        case 2:
            quarters = dice.roll(5, 30)
            text = f"How many hours are {15 * quarters} minutes?"
            return text, plain(Fraction(quarters, 4)), "hours"
        case 3:
            text = f"{dice.pick(NAMES)} practises {lesson} minutes a day."
            text = f"{text} How many hours is that in {12 * count} days?"
            return text, str(12 * count * lesson // 60), "hours"
        case _:
            text = (
                f"{count} talks of {lesson} minutes follow each other, with a pause of {pause}"
                " minutes between any two. How many minutes is it from the first word to the last?"
            )
            return text, str(count * lesson + (count - 1) * pause), "minutes"


def rates(dice: Dice, level: int) -> Question:
    speed, hours = 10 * dice.roll(3, 12), dice.roll(2, 2 + level)
    time = Fraction(2 * hours + 1, 2)
    match level:
        case 1:
            text = f"A car drives {hours} hours at {speed} km/h. How far does it get, in km?"
            return text, str(speed * hours), "km"
        case 2:
            text = f"A train covers {speed * hours} km in {hours} hours."
            return f"{text} How many km does it cover in one?", str(speed), "km"
        case 3:
            text = f"How far, in km, does a bus get in {plain(time)} hours at {speed} km/h?"
            return text, plain(speed * time), "km"
        case _:
            back = dice.pick([rate for rate in (20, 25, 40, 50) if rate != speed])
            text = (
                f"A van drives {plain(time)} hours at {speed} km/h, and the same way back"
                f" at {back} km/h. How many hours is it on the road?"
            )
            return text, plain(time + speed * time / back), "hours"


def sequences(dice: Dice, level: int) -> Question:
    start, step = dice.roll(1, 20), dice.roll(2, 5 + 3 * level)
    makers: dict[int, Callable[[int], int]] = {
        1: lambda at: start + step * at,
        2: lambda at: 10 * step + start - step * at,
        3: lambda at: start * 2**at + step,
        4: lambda at: start + step * at + at * at,
    }
    shown = [makers[level](at) for at in range(5)]
    text = f"Which number comes next: {', '.join(map(str, shown))}?"
    return text, str(makers[level](5)), ""


def equations(dice: Dice, level: int) -> Question:
    solution, factor, more = dice.roll(2, 12 * level), dice.roll(3, 9), dice.roll(1, 30)
    other = dice.roll(2, factor - 1)
    rest = (factor - other) * solution
    match level:
        case 1:
            text = f"Which number, added to {more}, gives {solution + more}?"
        case 2:
            text = f"What is x if {factor}x + {more} = {factor * solution + more}?"
        case 3:
            text = f"What is x if {factor}x + {more} = {other}x + {rest + more}?"
        case _:
            less = dice.roll(1, rest - 1)
            text = (
                f"{factor} times a number, less {less}, is {rest - less} more than"
                f" {other} times the number. Which number is it?"
            )
    return text, str(solution), ""


GROUPS: dict[str, Callable[[Dice, int], Question]] = {
    "addition": addition,
    "subtraction": subtraction,
    "multiplication": multiplication,
    "division": division,
    "percentages": percentages,
    "fractions": fractions,
    "lengths": lengths,
    "weights": weights,
    "durations": durations,
    "rates": rates,
    "sequences": sequences,
    "equations": equations,
}
