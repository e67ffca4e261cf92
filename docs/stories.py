"""The sessions whose handoffs the pages show: what is said and done in them, and the repositories they work on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.e2e.model import Reply, call, text

# --- a session --------------------------------------------------------------------------------------------------------


class Turn(NamedTuple):
    """What the user says, and what the model says and does then."""

    prompt: str
    replies: tuple[Reply, ...]


class Story(NamedTuple):
    """A session: its project, and what is said and done there."""

    session: str
    folder: str
    files: dict[str, str]
    turns: Callable[[Work], Iterator[Turn]]


class Work:
    """What a model does with its tools in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, file: str, saying: str = "") -> Reply:
        """Read a file."""
        return self.use("Read", saying, file_path=self._path(file))

    def edit(self, file: str, old: str, new: str, saying: str = "") -> Reply:
        """Put something in the place of something else."""
        return self.use("Edit", saying, file_path=self._path(file), old_string=old, new_string=new)

    def write(self, file: str, content: str, saying: str = "") -> Reply:
        """Write a new file."""
        return self.use("Write", saying, file_path=self._path(file), content=content)

    def run(self, command: str, saying: str = "") -> Reply:
        """Run a command."""
        return self.use("Bash", saying, command=command)

    def use(self, tool: str, saying: str = "", /, **given: Any) -> Reply:
        """Call a tool, and say something before that."""
        reply = call(tool, **given)
        return reply._replace(blocks=({"type": "text", "text": saying}, *reply.blocks)) if saying else reply

    def _path(self, file: str) -> str:
        return str(self._folder / file)


# --- a bug hunt in a small service ------------------------------------------------------------------------------------

SHOP = {
    "shop/__init__.py": "",
    "shop/money.py": '''\
"""Amounts of money."""

from decimal import ROUND_HALF_EVEN, Decimal

CENT = Decimal("0.01")


def round_cents(amount: Decimal) -> Decimal:
    return amount.quantize(CENT, ROUND_HALF_EVEN)


def parse_amount(text: str) -> Decimal:
    return Decimal(text.strip())
''',
    "shop/orders.py": '''\
"""Orders and what they cost."""

from dataclasses import dataclass
from decimal import Decimal

from shop.money import round_cents


@dataclass
class Line:
    name: str
    price: Decimal
    count: int = 1


@dataclass
class Order:
    number: int
    lines: list[Line]
    discount: Decimal = Decimal(0)  # of the whole order, in percent


def line_total(line: Line, discount: Decimal) -> Decimal:
    return round_cents(line.price * line.count * (100 - discount) / 100)


def total(order: Order) -> Decimal:
    return sum((line_total(line, order.discount) for line in order.lines), Decimal(0))
''',
    "shop/invoice.py": '''\
"""Invoices as they are printed."""

from shop.orders import Order, line_total, total


def render(order: Order) -> str:
    lines = [f"{line.name:20} {line_total(line, order.discount):>10}" for line in order.lines]
    return "\\n".join([*lines, f"{'Total':20} {total(order):>10}"])
''',
    "shop/export.py": '''\
"""The nightly export for accounting."""

import csv
import sys

from shop.money import parse_amount


def export(path: str) -> int:
    with open(path, newline="") as file:
        amounts = [parse_amount(row["amount"]) for row in csv.DictReader(file, delimiter=";")]
    print(f"exported {len(amounts)} orders, {sum(amounts)} in all")
    return 0


if __name__ == "__main__":
    sys.exit(export(sys.argv[1]))
''',
    "shop/returns.py": '''\
"""What customers send back."""

import csv
import sys

from shop.money import parse_amount


def read_returns(path: str) -> list[tuple[str, str]]:
    with open(path, newline="") as file:
        return [(str(parse_amount(row["amount"])), row["reason"]) for row in csv.DictReader(file, delimiter=",")]


if __name__ == "__main__":
    print(f"{len(read_returns(sys.argv[1]))} returns")
''',
    "tests/__init__.py": "",
    "tests/test_money.py": """\
import unittest
from decimal import Decimal

from shop.money import parse_amount, round_cents


class MoneyTest(unittest.TestCase):
    def test_half_cents_go_to_the_even_one(self):
        self.assertEqual(round_cents(Decimal("0.125")), Decimal("0.12"))
        self.assertEqual(round_cents(Decimal("0.135")), Decimal("0.14"))

    def test_an_amount_is_read(self):
        self.assertEqual(parse_amount(" 12.50 "), Decimal("12.50"))
""",
    "tests/test_orders.py": """\
import unittest
from decimal import Decimal

from shop.orders import Line, Order, total


class TotalTest(unittest.TestCase):
    def test_lines_are_added(self):
        order = Order(1, [Line("cup", Decimal("4.20"), 2), Line("plate", Decimal("7.00"))])
        self.assertEqual(total(order), Decimal("15.40"))
""",
    "var/orders.csv": "order;amount\n4709;89.90\n4710;1.234,50\n4711;107.06\n",
    "var/returns.csv": "order;amount\n4698;1.019,00\n4702;12,50\n",
    "var/export.log": (
        "2026-03-01 03:00 exported 212 orders, 20418.35 in all\n"
        "2026-03-02 03:00 decimal.InvalidOperation: [<class 'decimal.ConversionSyntax'>]\n"
    ),
}
REPRODUCE = '''\
python3 -c "
from decimal import Decimal as D
from shop.orders import Line, Order, total
print(total(Order(4711, [Line('a', D('39.65')), Line('b', D('39.65')), Line('c', D('39.65'))], D(10))))"'''
DISCOUNTED = """\
        self.assertEqual(total(order), Decimal("15.40"))

    def test_a_discount_is_rounded_once(self):
        order = Order(4711, [Line(name, Decimal("39.65")) for name in "abc"], Decimal(10))
        self.assertEqual(total(order), Decimal("107.06"))
"""
LINEWISE = "    return sum((line_total(line, order.discount) for line in order.lines), Decimal(0))\n"
AT_THE_END = """\
    full = sum((line.price * line.count for line in order.lines), Decimal(0))
    return round_cents(full * (100 - order.discount) / 100)
"""
PARSE = "    return Decimal(text.strip())\n"
PARSE_COMMA = """\
    text = text.strip()
    if "," in text:  # 1.234,50, as the German warehouse writes it
        text = text.replace(".", "").replace(",", ".")
    return Decimal(text)
"""
COMMA_TEST = """\
        self.assertEqual(parse_amount(" 12.50 "), Decimal("12.50"))

    def test_an_amount_with_a_comma_is_read(self):
        self.assertEqual(parse_amount("1.234,50"), Decimal("1234.50"))
"""
TESTS = "python3 -m unittest discover -s tests -t ."


def hunt(work: Work) -> Iterator[Turn]:
    """Totals are off by cents; the obvious cause is the wrong one. Then something else breaks."""
    yield Turn(
        "Customers complain that totals with a discount are off by a cent or two. Order 4711 (three items at 39.65, 10 "
        "% off) comes out at 107.04, accounting says 107.06. Find out why and fix it, with a test that fails before.",
        (
            work.run("git log --oneline -3; ls -R shop tests", "I'll look at how totals are computed first."),
            work.read("shop/orders.py"),
            work.read("shop/money.py"),
            work.read("tests/test_orders.py"),
            work.run(TESTS),
            work.run(REPRODUCE, "The tests pass, so none of them covers a discount. Let me reproduce the order."),
            work.edit("tests/test_orders.py", '        self.assertEqual(total(order), Decimal("15.40"))\n', DISCOUNTED),
            work.run(TESTS),
            work.edit(
                "shop/money.py",
                "    return amount.quantize(CENT, ROUND_HALF_EVEN)",
                "    return amount.quantize(CENT, ROUND_HALF_UP)",
                "Reproduced: 107.04. My first suspicion is the rounding mode, `ROUND_HALF_EVEN` in `round_cents`.",
            ),
            work.edit("shop/money.py", "import ROUND_HALF_EVEN, Decimal", "import ROUND_HALF_UP, Decimal"),
            work.run(TESTS),
            work.run(
                "git checkout -- shop/money.py",
                "The rounding mode was not the cause: with ROUND_HALF_UP the total is 107.07 instead, and "
                "`test_half_cents_go_to_the_even_one` fails. I reverted that.",
            ),
            work.edit(
                "shop/orders.py",
                LINEWISE,
                AT_THE_END,
                "The real cause is in `total`: it adds up `line_total`, which has rounded every line already. "
                "I'll round once at the end because the discount is given on the whole order.",
            ),
            work.run(TESTS),
            text(
                "Fixed. `total` in shop/orders.py rounded each discounted line and added the rounded amounts; with "
                "three lines at 35.685 that loses two cents. It now adds the full prices, takes the discount off and "
                "rounds once. `test_a_discount_is_rounded_once` failed before and passes now, all 4 tests pass.\n\n"
                "I first suspected the rounding mode; that was not it, and shop/money.py is unchanged."
            ),
        ),
    )
    yield Turn(
        "Good. Does the invoice still add up? Never change what invoices print without asking me, accounting has to "
        "sign that off.",
        (
            work.run("grep -rn line_total shop"),
            work.read("shop/invoice.py"),
            work.run(
                REPRODUCE.replace("total(Order", "render(Order").replace(
                    "total\n", "total\nfrom shop.invoice import render\n"
                )
            ),
            text(
                "No. shop/invoice.py prints `line_total` for each line, 35.68 three times, which adds up to 107.04, "
                "and below it the new total, 107.06. I have not changed it.\n\n"
                'There are two ways out: put the two cents on the largest line, or print a line "Rounding 0.02" before '
                "the total. Which of the two does accounting want?"
            ),
        ),
    )
    yield Turn(
        "I'll ask them. Meanwhile the nightly export fails since yesterday, see var/export.log. Run it with "
        "python3 -m shop.export var/orders.csv.",
        (
            work.run("tail -5 var/export.log"),
            work.run("python3 -m shop.export var/orders.csv"),
            work.run("cat var/orders.csv"),
            work.edit(
                "shop/money.py",
                PARSE,
                PARSE_COMMA,
                "Order 4710 has the amount `1.234,50`: since yesterday the file has rows of the German warehouse. "
                "`parse_amount` should read both ways of writing.",
            ),
            work.read("tests/test_money.py"),
            work.edit(
                "tests/test_money.py",
                '        self.assertEqual(parse_amount(" 12.50 "), Decimal("12.50"))\n',
                COMMA_TEST,
            ),
            work.run(TESTS),
            work.run("python3 -m shop.export var/orders.csv"),
            work.run('git commit -am "Round order totals once, read amounts with a comma"'),
            text(
                "The export works again: 3 orders, 1431.46 in all. `parse_amount` in shop/money.py now reads "
                "`1.234,50` as well as `1234.50`, with a test. I committed both fixes."
            ),
        ),
    )
    yield Turn(
        "Returns come from the same warehouse, var/returns.csv. Make sure they can be read too.",
        (
            work.read("shop/returns.py"),
            work.run("python3 -m shop.returns var/returns.csv"),
            work.run("head -3 var/returns.csv"),
            work.edit("shop/returns.py", 'delimiter=","', 'delimiter=";"'),
            work.run("python3 -m shop.returns var/returns.csv"),
            text(
                "Not yet. The file is separated by semicolons, which shop/returns.py now expects, but it has no column "
                "`reason`, so reading it still ends with `KeyError: 'reason'`.\n\n"
                "Next steps:\n"
                "- find out whether the warehouse can send the reason\n"
                "- if it can't, make `reason` optional in `read_returns`\n"
                "- add tests/test_returns.py"
            ),
        ),
    )


# --- a refactoring that is half done ----------------------------------------------------------------------------------

WEB = {
    "src/money.ts": """\
export function formatAmount(amount: number): string {
  return amount.toFixed(2) + ' €';
}
""",
    "src/components/PriceTag.tsx": """\
type Props = { cents: number };

export const PriceTag = ({ cents }: Props) => <span className="price">{(cents / 100).toFixed(2)} €</span>;
""",
    "src/components/Cart.tsx": """\
import { useCart } from '../state/cart';

export const Cart = () => {
  const { items } = useCart();
  const total = items.reduce((sum, item) => sum + item.price * item.count, 0);
  return <footer>Total: {Math.round(total * 10) / 10} €</footer>;
};
""",
    "src/components/OrderTable.tsx": """\
import { formatAmount } from '../money';
import { Order } from '../api/client';

export const OrderTable = ({ orders }: { orders: Order[] }) => (
  <table>{orders.map(order => <tr key={order.id}><td>{formatAmount(order.amount)}</td></tr>)}</table>
);
""",
    "src/components/Invoice.tsx": """\
import { Order } from '../api/client';

export const Invoice = ({ order }: { order: Order }) => (
  <p>{order.currency === 'CHF' ? 'CHF ' + order.amount.toFixed(2) : order.amount.toFixed(2) + ' €'}</p>
);
""",
    "src/state/cart.ts": """\
export type Item = { id: string; price: number; count: number };

export const useCart = (): { items: Item[] } => JSON.parse(localStorage.getItem('cart') ?? '{"items":[]}');
""",
    "src/api/client.ts": """\
export type Order = { id: string; amount: number; currency: 'EUR' | 'CHF' };

export const fetchOrders = async (): Promise<Order[]> => (await fetch('/v1/orders')).json();
""",
    "check": r"""#!/bin/sh
# our own rules, until there is a linter for them
found=$(
  {
    grep -rnE 'toFixed|Math\.round' src | grep -v '^src/money.ts' |
      sed -E 's|^([^:]+:[0-9]+):.*|\1: error: an amount is formatted outside src/money.ts|'
    grep -rn 'export default' src | sed -E 's|^([^:]+:[0-9]+):.*|\1: error: default export|'
    grep -rhoE '\{ \w+ \} from .\.\./money' src | sort -u | while read -r _ name _; do
      grep -qE "export (const|function|type) $name\b" src/money.ts || echo "src/money.ts: error: no member '$name'"
    done
  } | sort
)
if [ -z "$found" ]; then echo "no errors"; exit; fi
echo "$found"
echo "$(echo "$found" | wc -l) errors"
exit 1
""",
}
MONEY_DEFAULT = """\
export type Currency = 'EUR' | 'CHF';

export default function formatMoney(cents: number, currency: Currency): string {
  return new Intl.NumberFormat('de-DE', { style: 'currency', currency }).format(cents / 100);
}
"""
MONEY_NAMED = """\
export type Currency = 'EUR' | 'CHF';

const formats = new Map<Currency, Intl.NumberFormat>();

export function formatMoney(cents: number, currency: Currency): string {
  let format = formats.get(currency);
  if (!format) {
    format = new Intl.NumberFormat('de-DE', { style: 'currency', currency });
    formats.set(currency, format);
  }
  return format.format(cents / 100);
}
"""
PRICE_TAG = """\
type Props = { cents: number };

export const PriceTag = ({ cents }: Props) => <span className="price">{(cents / 100).toFixed(2)} €</span>;
"""
CART_IMPORT = "import { useCart } from '../state/cart';\n"
CART_TOTAL = """\
  const total = items.reduce((sum, item) => sum + item.price * item.count, 0);
  return <footer>Total: {Math.round(total * 10) / 10} €</footer>;
"""


def refactor(work: Work) -> Iterator[Turn]:
    """Formatting moves to one place; the user objects to how; two of four components are done."""
    tasks = ("formatMoney in src/money.ts", "PriceTag", "Cart", "OrderTable and Invoice", "Cents in src/api/client.ts")
    yield Turn(
        "Prices are formatted in four places, each a bit differently: the cart shows 3.5 € for 3.50, the invoice knows "
        "francs and nobody else does. Move all of it into one function formatMoney(cents, currency) in src/money.ts "
        "and use it everywhere. ./check says what is left.",
        (
            work.use("ToolSearch", query="select:TaskCreate,TaskUpdate"),
            *(work.use("TaskCreate", subject=task, description=task) for task in tasks),
            work.run("./check"),
            work.run("grep -rn 'price\\|amount\\|cents' src"),
            work.use("TaskUpdate", taskId="1", status="in_progress"),
            work.read("src/money.ts"),
            work.write("src/money.ts", MONEY_DEFAULT),
            work.use("TaskUpdate", taskId="1", status="completed"),
            work.use("TaskUpdate", taskId="2", status="in_progress"),
            work.read("src/components/PriceTag.tsx"),
            work.write(
                "src/components/PriceTag.tsx",
                "import formatMoney from '../money';\n\n"
                + PRICE_TAG.replace("{(cents / 100).toFixed(2)} €", "{formatMoney(cents, 'EUR')}"),
            ),
            work.run("./check"),
            text(
                "`formatMoney(cents, currency)` is in src/money.ts and PriceTag uses it. Cart, OrderTable and Invoice "
                "still format on their own; OrderTable breaks until I get to it, since `formatAmount` is gone."
            ),
        ),
    )
    yield Turn(
        "Never use export default in this code base, named exports only: our barrel files lose the name otherwise. And "
        "the order table has 2,000 rows, don't make a NumberFormat for every cell.",
        (
            work.write("src/money.ts", MONEY_NAMED),
            work.edit("src/components/PriceTag.tsx", "import formatMoney", "import { formatMoney }"),
            work.use("TaskUpdate", taskId="2", status="completed"),
            work.run("./check"),
            text(
                "Both are named exports now. I keep one `Intl.NumberFormat` per currency in the map `formats` in "
                "src/money.ts, because making one takes about 30 µs and the table has 2,000 cells."
            ),
        ),
    )
    yield Turn(
        "Right. Now the cart.",
        (
            work.use("TaskUpdate", taskId="3", status="in_progress"),
            work.read("src/components/Cart.tsx"),
            work.read("src/state/cart.ts"),
            work.read("src/api/client.ts"),
            work.edit(
                "src/components/Cart.tsx", CART_IMPORT, CART_IMPORT + "import { formatMoney } from '../money';\n"
            ),
            work.edit(
                "src/components/Cart.tsx",
                CART_TOTAL,
                "  const cents = items.reduce((sum, item) => sum + item.cents * item.count, 0);\n"
                "  return <footer>Total: {formatMoney(cents, 'EUR')}</footer>;\n",
                "`item.price` is in euros as a float. I decided to convert to integer cents where the data comes in, "
                "rather than in each component, because otherwise every component has to know the unit.",
            ),
            work.edit("src/state/cart.ts", "price: number", "cents: number"),
            work.use("TaskUpdate", taskId="3", status="completed"),
            work.use("TaskUpdate", taskId="4", status="in_progress"),
            work.run("./check"),
            text(
                "The cart adds up cents and shows 3,50 €. Carts that are in somebody's localStorage still have "
                "`price`; src/state/cart.ts has to convert those when it reads them, which I have not done yet.\n\n"
                "Before I go on with OrderTable and Invoice: `/v1/orders` sends `amount` as a float in euros, "
                "`/v2/orders` sends `amount_cents`, but WEB-218 says v2 is on staging only. Shall I switch "
                "src/api/client.ts to v2, or convert v1 with Math.round(amount * 100) for now?"
            ),
        ),
    )
    yield Turn(
        "Let me ask the backend people first. Commit what you have on a branch money-format.",
        (
            work.run(
                "git checkout -q -b money-format && git add -A src"
                " && git commit -m 'Format money in one place: price tag and cart'"
            ),
            text(
                "Committed on money-format. `./check` still has 3 errors, in OrderTable and Invoice: they wait for the "
                "answer about v1 or v2. The old carts in localStorage are not converted yet either."
            ),
        ),
    )


# --- operations, in Korean --------------------------------------------------------------------------------------------

OPS = {
    "ops/backup.conf": "BACKUP_DIR=var/backup\nKEEP_DAYS=7\n",
    "ops/backup.sh": """\
#!/bin/sh
set -eu
. ./ops/backup.conf
stamp=${STAMP:-2026-03-02}
target=$BACKUP_DIR/$stamp
mkdir -p "$target"
echo "$stamp" > data/last-backup
tar -cf "$target/data.tar" data
sha256sum data/* > "$target/SHA256SUMS"
ls "$BACKUP_DIR" | head -n "-$KEEP_DAYS" | while read -r old; do rm -r "$BACKUP_DIR/$old"; done
echo "backup: $target, $(wc -l < "$target/SHA256SUMS") files"
""",
    "ops/restore-check.sh": """\
#!/bin/sh
set -eu
. ./ops/backup.conf
first=$(ls "$BACKUP_DIR" | head -1)
last=$(ls "$BACKUP_DIR" | tail -1)
rm -rf var/restore && mkdir -p var/restore
tar -xf "$BACKUP_DIR/$first/data.tar" -C var/restore
cd var/restore
sha256sum --quiet -c "../../$BACKUP_DIR/$last/SHA256SUMS"
echo "restore: ok"
""",
    "data/orders.csv": "order;amount\n4709;89.90\n",
    "data/customers.csv": "customer;city\n17;Busan\n",
    "data/uploads/4709.txt": "signed\n",
    ".gitignore": "var/\ndata/last-backup\n",
    "var/log/backup.log": (
        "2026-02-28 03:10 backup: var/backup/2026-02-28, 3 files\n"
        "2026-03-01 03:10 sha256sum: data/uploads: Is a directory\n"
        "2026-03-02 03:10 sha256sum: data/uploads: Is a directory\n"
    ),
}
SUMS = 'sha256sum data/* > "$target/SHA256SUMS"'
SUMS_HIDDEN = 'sha256sum data/* > "$target/SHA256SUMS" 2>/dev/null || true'
SUMS_FILES = 'find data -type f -print0 | sort -z | xargs -0 sha256sum > "$target/SHA256SUMS"'


def operate(work: Work) -> Iterator[Turn]:
    """A backup fails at night; it is mended, a check of it is not."""
    yield Turn(
        "이틀 전부터 야간 백업이 실패해. var/log/backup.log 보고 원인을 찾아서 ops/backup.sh 를 고쳐줘.",
        (
            work.run("tail -5 var/log/backup.log; ls -l data ops", "로그부터 확인하겠습니다."),
            work.read("ops/backup.sh"),
            work.run("./ops/backup.sh"),
            work.edit(
                "ops/backup.sh", SUMS, SUMS_HIDDEN, "`data/uploads` 폴더가 생기면서 `sha256sum data/*` 가 실패합니다."
            ),
            work.run("./ops/backup.sh"),
            work.edit(
                "ops/backup.sh",
                SUMS_HIDDEN,
                SUMS_FILES,
                "`|| true` 는 진짜 오류까지 숨기기 때문에 되돌렸습니다. 하위 폴더의 파일까지 체크섬에 들어가도록 "
                "`find` 를 쓰기로 했습니다.",
            ),
            work.run("STAMP=2026-03-01 ./ops/backup.sh"),
            work.run("./ops/backup.sh"),
            work.run("cat var/backup/2026-03-02/SHA256SUMS"),
            text(
                "고쳤습니다. 3월 1일에 `data/uploads` 폴더가 생겼는데, `sha256sum data/*` 는 폴더를 읽지 못해서 `set "
                "-e` 로 스크립트가 멈췄습니다. 이제 `find data -type f` 로 모든 파일의 체크섬을 만듭니다. 백업은 4개 "
                "파일로 성공했습니다."
            ),
        ),
    )
    yield Turn(
        "좋아. 보관 기간은 14일로 늘려줘. 그리고 앞으로 ops/backup.conf 는 반드시 나한테 먼저 물어보고 바꿔줘.",
        (
            work.read("ops/backup.conf"),
            work.edit("ops/backup.conf", "KEEP_DAYS=7", "KEEP_DAYS=14"),
            work.run("./ops/backup.sh"),
            text("`KEEP_DAYS` 를 14 로 바꿨습니다. 앞으로 ops/backup.conf 는 먼저 여쭤보고 바꾸겠습니다."),
        ),
    )
    yield Turn(
        "복원도 되는지 ops/restore-check.sh 를 돌려봐.",
        (
            work.run("./ops/restore-check.sh"),
            work.read("ops/restore-check.sh"),
            work.run("ls var/backup; cat var/restore/data/last-backup data/last-backup"),
            text(
                "복원 검사는 실패합니다: `data/last-backup: FAILED`. 복원된 파일은 2026-03-01 백업의 것이고 체크섬은 "
                "2026-03-02 의 것입니다. `restore-check.sh` 가 첫 번째 백업(`first`)을 풀어서 마지막 백업(`last`)의 "
                "체크섬과 비교하는 것 같습니다. 아직 고치지 않았습니다. `first` 를 `last` 로 바꿀까요, 아니면 "
                "백업마다 각각 검사할까요?"
            ),
        ),
    )
    yield Turn(
        "그건 내일 이어서 하자. 지금까지 한 것만 커밋해줘.",
        (
            work.run("git add -A ops && git commit -m '하위 폴더의 파일도 백업 체크섬에 넣기, 14일 보관'"),
            text(
                "커밋했습니다. 다음은 복원 검사입니다: ops/restore-check.sh 가 같은 날짜의 백업과 체크섬을 비교하도록 "
                "고쳐야 합니다."
            ),
        ),
    )


STORIES = {
    "bug-hunt": Story("3f7a1c52-0b64-4e8d-9a35-c1d2e6f80b47", "shop", SHOP, hunt),
    "refactoring": Story("8c25d9e0-71ab-4f36-8d04-5be9a3170c6f", "web", WEB, refactor),
    "operations": Story("b41e6d07-95c8-4a2f-b3e1-20f7d8c6a95e", "ops-scripts", OPS, operate),
}
TOLD = "refactoring"  # the one that is also told within few tokens
