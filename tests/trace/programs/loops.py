"""Loops that search, and what they leave behind."""

NAMES = ["model.layers.0.mlp.gate", "lm_head", "model.layers.1.norm", "mtp.fc", "model.embed"]
MAPPING = [("qkv", "q_proj", 0), ("qkv", "k_proj", 1), ("gate_up", "gate_proj", 0), ("gate_up", "up_proj", 1)]


def case_search_leaves_the_item_it_broke_at():
    seen = []
    for param, weight, shard in MAPPING:
        if weight not in "layers.3.k_proj.weight":
            continue
        seen.append((param, shard))
        break
    else:
        seen.append("none")
    return seen, param, weight, shard


def case_search_without_a_hit_leaves_the_last_item():
    for param, weight, shard in MAPPING:
        if weight not in "layers.3.o_proj.weight":
            continue
        return "hit"
    else:
        left = "none"
    return left, param, weight, shard


def case_search_by_a_block_alone():
    hits = []
    wanted = "layers"
    for name in NAMES:
        if wanted in name:
            hits.append(name)
    return hits, name


def case_search_by_not_in_alone():
    hits = []
    wanted = "layers"
    for name in NAMES:
        if wanted not in name:
            hits.append(name)
    return hits, name


def case_search_with_an_else_does_both():
    hits = []
    wanted = "layers"
    for name in NAMES:
        if wanted in name:
            hits.append("in")
        else:
            hits.append("out")
    return hits, name


def case_search_taken_apart_by_the_first_statement():
    hits = []
    text = "layers.3.up_proj.weight"
    for row in MAPPING:
        param, weight, shard = row
        if weight not in text:
            continue
        hits.append((row, shard))
    return hits, row, param, weight, shard


def case_search_taken_apart_leaves_the_last_row():
    text = "layers.3.down_proj.weight"
    for row in MAPPING:
        param, weight, shard = row
        if weight not in text:
            continue
        return "hit"
    return row, param, weight, shard


def case_search_by_the_row_before_it_was_taken_apart():
    row = "ab"
    seen = {"ab"}
    hits = []
    for row in [("x", "y"), ("a", "b")]:
        first, second = row
        if row in seen:
            continue
        hits.append(first + second)
    return hits, row


def case_search_of_rows_of_another_length():
    rows = [("a", 1), ("b", 2, 3)]
    text = "z"
    passed = 0
    try:
        for name, number in rows:
            if name not in text:
                continue
            passed += 1
    except ValueError:
        return "unequal", name, number, passed
    return "equal"


def case_search_among_keys_that_the_body_adds():
    seen = set()
    order = []
    for name in ["a", "b", "a", "c", "b"]:
        if name in seen:
            continue
        seen.add(name)
        order.append(name)
    return order, name


def case_search_with_the_variable_as_its_own_container():
    hits = []
    letter = "m"
    for name in NAMES:
        if letter in name:
            letter = name[-1]
            hits.append(name)
    return hits, letter, name


def case_search_for_a_variable_not_yet_bound():
    try:
        for name in NAMES:
            if name in later:  # noqa: F821
                continue
    except UnboundLocalError:
        later = ()
        return "unbound", name, later
    return "bound"


def case_search_over_nothing_binds_nothing():
    wanted = "a"
    for name in []:
        if wanted in name:
            return "hit"
    try:
        return name
    except UnboundLocalError:
        return "unbound"


def case_search_of_a_value_that_is_no_text():
    hits = []
    for number in [1, 2, 3]:
        if number in (2, 3):
            hits.append(number)
    return hits, number


def case_search_in_no_container_raises():
    wanted = "a"
    try:
        for item in ["abc", 5]:
            if wanted not in item:
                continue
    except TypeError:
        return "raised", item
    return "passed"


class Loud(str):
    asked = []

    def __contains__(self, other):
        Loud.asked.append(other)
        return False


def case_search_asks_a_class_of_its_own():
    Loud.asked.clear()
    text = Loud("abc")
    for name in ["a", "b"]:
        if name not in text:
            continue
    return Loud.asked, name


def case_search_in_a_generator_shows_its_variables():
    def rows():
        text = "up_proj k_proj"
        for param, weight, shard in MAPPING:
            if weight not in text:
                continue
            yield param, shard
        yield param, weight, shard

    return list(rows())


def case_search_of_a_captured_variable():
    text = "up_proj"
    hits = []

    def look():
        for _param, weight, shard in MAPPING:
            if weight not in text:
                continue
            hits.append(shard)

    look()
    return hits


def case_search_whose_variable_a_closure_reads():
    readers = []
    wanted = "layers"
    for name in NAMES:
        if wanted in name:
            readers.append(lambda: name)
    return [read() for read in readers]


def case_loop_within_a_search_breaks_only_itself():
    found = []
    for name in NAMES:
        if "layers" not in name:
            continue
        for part in name.split("."):
            if part not in "mlp norm":
                continue
            found.append(part)
            break
    return found, name, part


def case_while_breaks_and_else():
    n = 0
    while n < 10:
        n += 1
        if n == 4:
            break
    else:
        n = -1
    m = 0
    while m < 3:
        m += 1
    else:
        m = 100
    return n, m


def case_for_returns_from_within():
    for number in range(10):
        for other in range(10):
            if number * other == 42:
                return number, other
    return None
