"""Made-up secrets in the texts they turn up in, and look-alikes of them; every token is random and was never issued.

It is ours, so what is found of it flatters us: it shows what we meant to find. Tiers: 1 issuers' prefixes, 2 structure
(keys, URIs, headers), 3 a name and a value, 4 prose and command lines. Look-alikes are tier 0.
"""

from __future__ import annotations

import base64
import random
import re
import string
from collections.abc import Iterator
from typing import NamedTuple


def words(text: str) -> list[str]:
    return text.split()


# {A36}: 36 letters and digits; x: lower hex; X: capitals and digits; u: url-safe base64; b: base64; d: digits;
# l: small letters and digits; i: uuid; c: letters; p: a password with letters, digits and marks; ~: this is the secret
ALPHABETS = {
    "A": string.ascii_letters + string.digits,
    "x": "0123456789abcdef",
    "X": string.ascii_uppercase + string.digits,
    "u": string.ascii_letters + string.digits + "-_",
    "b": string.ascii_letters + string.digits + "+/",
    "d": string.digits,
    "l": string.ascii_lowercase + string.digits,
    "c": string.ascii_letters,
}

TIER1 = words("""
ghp_{A36} gho_{A36} ghu_{A36} ghs_{A36} ghr_{A76} github_pat_{A22}_{A59} glpat-{u20} glptt-{x40} gldt-{u20} glrt-{u20}
glft-{u20} glsoat-{u20} glcbt-{x2}_{u20} glpat-{u27}.01.{l9} AKIA{X16} ASIA{X16} ABSK{b109}= da2-{l26} amzn.mws.{i}
AIza{u35} GOCSPX-{u28} ya29.{u120} xoxb-{d12}-{d13}-{A24} xoxp-{d12}-{d12}-{d13}-{x32} xoxs-{d12}-{d12}-{d13}-{x32}
xapp-1-A{X10}-{d13}-{x64} xoxe.xoxp-1-{A160} https://hooks.slack.com/services/T{X8}/B{X10}/{A24}
https://discord.com/api/webhooks/{d18}/{u68} sk_live_{A24} rk_live_{A24} sk_test_{A24} whsec_{A32} npm_{A36}
pypi-AgEIcHlwaS5vcmc{u150} rubygems_{x48} CLOJARS_{l60} dckr_pat_{u27} hf_{c34} gsk_{A52} xai-{A80} pplx-{A48}
nvapi-{u64} r8_{A37} tvly-{A32} lsv2_pt_{x32}_{x10} pcsk_{A5}_{A63} sk-ant-api03-{u93}AA sk-ant-oat01-{u93}AA
sk-proj-{u74}T3BlbkFJ{u74} sk-{A20}T3BlbkFJ{A20} sk-or-v1-{x64} sk-svcacct-{u110} sk-lf-{i} dop_v1_{x64} doo_v1_{x64}
HRKU-{i} nfp_{A36} vcp_{A56} rnd_{A32} fo1_{u43} fm2_{b500} sbp_{x40} sb_secret_{u31} napi_{l64} pscale_tkn_{u43}
pscale_pw_{u43} mdb_sa_sk_{u40} v1.0-{x24}-{x146} {A14}.atlasv1.{u67} hvs.{u95} hvb.{u140} dp.pt.{A43} dp.st.dev.{A43}
pul-{x40} ico-{A32} tskey-auth-{A17}-{A32} dnkey-{A26}-{A52} AGE-SECRET-KEY-1{X58} SG.{u22}.{u43} key-{x32}
xkeysib-{x64}-{A16} shpat_{x32} shpss_{x32} sq0atp-{u22} sq0csp-{u43} EAA{A180} access_token$production${l16}${x32}
access-sandbox-{i} FLWSECK_TEST-{x32} rzp_live_{A14} shippo_live_{x40} duffel_test_{u43} fio-u-{u64} p8e-{l32}
aio_{A28} s-s4t2ud-{x64} ATATT3xFfGF0{u170} ATBB{A32} ATTA{x64} pat{A14}.{x64} lin_api_{A40} ntn_{d11}{A35}
secret_{A43} figd_{u40} pat-na1-{i} tfp_{u44} CFPAT-{u43} rdme_{l70} PMAK-{x24}-{x34} NRAK-{X27} dt0c01.{X24}.{X64}
glc_{b120} glsa_{A32}_{x8} sntrys_eyJ{b120} sntryu_{x64} squ_{x40} sgp_{x16}_{x40} phx_{A43} sdk-{i} hawk.{u20}.{u20}
rootly_{x64} bkua_{x40} CCIPAT_{A22}_{x40} API-{X26} pat.{u22}.{x24}.{A20} pnu_{A36} sm_pat_{A16} AKCp{A69} odt_{A32}
sha256~{u43} 00D{A15}!{A96} 1000.{x32}.{x32} zpka_{l32}_{x8} sl.{u138} {d9}:AA{u33} sk.eyJ{A80}.{A22}
M{A23}.{A6}.{A38} acme_live_{A40} zeta-{A36} lsv2_sk_{x32}_{x10} 1//0{u100} {A3}8Q~{u34} wandb_v1_{A60} EZAK{A54}
SCW{X17} dapi{x32} cio{A32} oy2{l43} LTAI5t{A18} SK{x32} GR1348941{u20} AAAAAAAAAAAAAAAAAAAAA{A20}%2B{A40}
SWMTKN-1-{l50}-{l25} nyk_v0_{A64} waka_{i} RGAPI-{i} {x32}-us12 {x32}-{x8}-{x8} akab-{l16}-{l16} BBDC-{u44} llx-{A48}
v2.local.{u80}
""")

TIER2 = [
    "-----BEGIN RSA PRIVATE KEY-----\n{b64}\n{b64}\n{b64}\n{b40}==\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN OPENSSH PRIVATE KEY-----\\n{b70}\\n{b70}\\n{b32}=\\n-----END OPENSSH PRIVATE KEY-----",
    "     1\t-----BEGIN EC PRIVATE KEY-----\n     2\t{b64}\n     3\t{b64}\n     4\t-----END EC PRIVATE KEY-----",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{b64}\n{b64}\n=abcd\n-----END PGP PRIVATE KEY BLOCK-----",
    "-----BEGIN PRIVATE KEY-----\n{b64}\n{b64}\n",
    "client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQ{b200}",
    "postgres://app:{~A16}@db.internal:5432/prod",
    "mongodb+srv://svc:{~p14}@cluster0.ab1cd.mongodb.net/?retryWrites=true",
    "redis://:{~A20}@cache.internal:6379/0",
    "amqps://worker:{~A18}@mq.internal/vhost",
    "https://{~x32}@o12345.ingest.sentry.io/4501",
    "git clone https://oauth2:{~u24}@git.internal/team/repo.git",
    "Authorization: Bearer {~u40}",
    "curl -H 'Authorization: token {~x40}' https://api.internal/v1",
    '"Authorization": "Basic {~basic}"',
    "fetch(url, {{headers: {{Authorization: `Bearer {~A48}`}}}})",
    "X-Api-Key: {~A32}",
    "PRIVATE-TOKEN: {~u26}",
    "eyJ{A33}.eyJ{A80}.{u43}",
    "Cookie: theme=dark; sessionid={~l32}; csrftoken={~A32}",
    "Set-Cookie: SID={~u44}; Path=/; HttpOnly",
    "DefaultEndpointsProtocol=https;AccountName=acct;AccountKey={~b86}==;EndpointSuffix=core.windows.net",
    "Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={~b43}=",
    "Server=tcp:db.internal,1433;Database=x;User ID=sa;Password={~p16};Encrypt=True;",
    "Driver={{ODBC Driver 17}};Server=x;Uid=app;Pwd={~p14};",
    "jdbc:mysql://db/x?user=app&password={~A16}&ssl=true",
    "https://acct.blob.core.windows.net/c/f?sv=2022-11-02&ss=b&sig={~b43}%3D&se=2030",
    "https://api.internal/v1/data?api_key={~A32}&page=2",
    "root:$6${A8}${~A86}:19000:0:99999:7:::",
    "admin:$2b$12${~A53}",
    "$argon2id$v=19$m=65536,t=3,p=4${b22}${~b43}",
    "pbkdf2_sha256$260000${A12}${~b43}=",
    '<add key="DbPassword" value="{~p16}" />',
    "<password>{~p14}</password>",
    "<key>API_SECRET</key>\n\t<string>{~A32}</string>",
    "PuTTY-User-Key-File-2: ssh-rsa\nPrivate-Lines: 2\n{b64}\n{b64}\nPrivate-MAC: x",
    "PrivateKey = {~b43}=",
    "machine git.internal login bot password {~p16}",
    '{{"auths": {{"reg.internal": {{"auth": "{~basic}"}}}}}}',
    "//registry.internal/:_authToken={~i}",
    "client-key-data: {~b1600}",
    'Authorization: Digest username="app", realm="x", nonce="5ccc", uri="/", response="{~x32}"',
    "db.internal:5432:shop:app:{~p14}",
    "*:*:*:postgres:{~p12}",
    "machine api.internal\n  login bot\n  password {~p16}",
    "DISCORD_TOKEN is M{A23}.{A6}.{A27}",
]

TIER3 = [
    "DB_PASSWORD={~p14}",
    "export STRIPE_WEBHOOK_SECRET='{~A32}'",
    'password = "{~p12}"',
    "password: {~p12}",
    '"client_secret": "{~A40}"',
    "'apiKey': '{~l32}',",
    "AWS_SECRET_ACCESS_KEY={~b40}",
    "aws_secret_access_key = {~b40}",
    "const token = '{~A40}';",
    'String authToken = "{~x40}";',
    "api_key: {~x32}",
    "ALGOLIA_ADMIN_KEY={~x32}",
    "DATADOG_API_KEY={~x32}",
    'heroku_api_key = "{~i}"',
    "TWILIO_AUTH_TOKEN={~x32}",
    "define('DB_PASSWORD', '{~p14}');",
    "SECRET_KEY = 'django-insecure-{~l50}'",
    "secret_key_base: {~x128}",
    "APP_KEY=base64:{~b43}=",
    "spring.datasource.password={~p14}",
    "- name: DB_PASSWORD\n  value: {~p14}",
    '{{"name": "API_TOKEN", "value": "{~A32}"}}',
    'password := "{~p12}"',
    "$config['db']['password'] = '{~p12}';",
    'credentials {{ username "ci"\n password "{~p12}" }}',
    "ENV NPM_TOKEN {~A36}",
    "$mail->Password = '{~p12}';",
    "REACT_APP_API_KEY={~A39}",
    "private_key: 0x{~x64}",
    "access_token={~A43}",
    'refresh_token: "{~u64}"',
    "encryption_key = '{~x64}'",
    "SLACK_SIGNING_SECRET: {~x32}",
    '"privateKey": "{~b88}"',
    "os.environ['API_SECRET'] = '{~A40}'",
    "process.env.JWT_SECRET || '{~p20}'",
    'password: str = "{~p12}"',
    "MYSQL_ROOT_PASSWORD: {~p12}",
    "PGPASSWORD={~p12} psql -h db",
    "okta_token = 00{~u40}",
    'passphrase="{~p16}"',
    "requirepass {~A32}",
    "smtp_pass: '{~p12}'",
    "credential={~A24}",
    '"credentials": "{~A32}"',
    "DB_CREDENTIAL: {~p16}",
    "password: >-\n  {~p16}\nuser: app",
    "api_key: |\n  {~A32}\n",
    "password: !!str {~p14}",
    "| user | password |\n|---|---|\n| app | {~p14} |",
    "| name | api key |\n| :-- | --: |\n| prod | `{~A32}` |",
    "user,password\napp,{~p14}",
    '"user","api_key"\n"app","{~A32}"',
    "id;secret;active\n1;{~A32};yes",
    "user\tpassword\napp\t{~p14}",
]

TIER4 = [
    "the staging password is {~p14}, use it",
    "My password for the server is {~p12}.",
    "비밀번호는 {~p12} 입니다",
    "암호: {~p12}",
    "mysql -u root -p{~A12} shop < dump.sql",
    "curl -u admin:{~p14} https://internal/api",
    "sshpass -p '{~p12}' ssh deploy@10.0.0.5",
    "redis-cli -h cache -a {~A24} ping",
    "docker login -u ci -p {~A24} registry.internal",
    "psql --password={~p12} -h db",
    "tool login --token {~A40}",
    "vault write secret/x password={~p12}",
    "set the api key to {~A32} and retry",
    "gpg --batch --passphrase {~p12} -d f.gpg",
    "openssl aes-256-cbc -d -in f -pass pass:{~p12}",
    "CREATE USER 'app'@'%' IDENTIFIED BY '{~p12}';",
    "ALTER USER app WITH PASSWORD '{~p12}';",
    "psexec \\\\srv -u corp\\admin -p {~p12} cmd",
    "the token for staging: {~A40}",
    "login admin, password {~p14}",
    "Connect-VIServer -Server vc -User admin -Password {~p12}",
    "kubectl create secret generic db --from-literal=password={~p12}",
    "ConvertTo-SecureString '{~p14}' -AsPlainText -Force",
    "use {~p14} as the password",
    "creds: admin / {~p12}",
    "mysql -u root -p'{~p12}' shop",
    'mysqldump -uapp -p"{~p14}" shop > dump.sql',
    "API 키: {~A32}",
    "인증 토큰은 {~A32} 입니다",
    "시크릿 키 = {~x40}",
    "my secret {~x40}",
    "apikey {~x32}",
    "the encryption key → {~x64}",
]

LOOKALIKES = r"""
password=<your password>
password: string
password: str = Field(...)
const password = process.env.DB_PASSWORD
token = os.environ["TOKEN"]
export TOKEN=${TOKEN}
const token = getToken()
token: ${{{{ secrets.GITHUB_TOKEN }}}}
api_key = "xxxxxxxxxxxxxxxx"
password = "changeme"
apiKey: 'YOUR_API_KEY'
"integrity": "sha512-{b86}=="
commit {x40}
uuid {i}
"id":"msg_01{A22}"
"id":"toolu_01{A22}"
"requestId":"req_011{A21}"
"signature":"{b300}"
input_tokens: 12345
"max_tokens": 4096,
primary_key = "user_id"
key: "ArrowLeft"
cache_key = f"{user}:{id}"
public_key = "{b88}"
postgres://user:password@localhost/db
https://user:${PASS}@host/x
password_hash = hash_password(password)
if token == "": return
Bearer <token>
Authorization: Bearer $TOKEN
Authorization: `Bearer ${token}`
the password is required
password is too short
nextPageToken: "abc"
sha256:{x64}
etag: "{x32}"
def check_password(self, password: str) -> bool:
token = self.tokenizer.next_token()
secretName: my-app-secret
PASSWORD_MIN_LENGTH=12
tests pass: 1234
--- PASS: TestFoo (0.12s)
token_count=1234567
git@github.com:org/repo.git
"password": "********"
-----BEGIN CERTIFICATE-----\n{b64}\n-----END CERTIFICATE-----
-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----
key-value store
sk-fading-circle-item
"type": "password", "name": "password"
<input type="password" name="password" placeholder="Password">
password = input("Password: ")
kubectl get secret db-secret -o yaml
docker run -p 8080:80 nginx
mkdir -p src/components
curl -u $USER:$PASS https://x
mysql -p shop
--token-file /run/secrets/token
secret = config.get("secret")
go.sum h1:{b43}=
/nix/store/{l32}-python3
claude-sonnet-4-5-20250929
const KEY_CODES = {ENTER: 13}
cookie: Cookie
Set-Cookie header
eyJhbGciOi...
data:image/png;base64,{b400}
arn:aws:iam::{d12}:role/x
AKIA{X9}EXAMPLE
pass
passport
compass = "north"
secretary: "Ann Smith"
author: bob
mysql -u root -p shop
mysql -p'$PASS' shop
| password | required | at least 12 characters |
| key | value |\n|---|---|\n| theme | dark |
user,token_count,key\nbob,12345,theme
id,name,password_hash_algorithm\n1,app,bcrypt
select id,password,name from users
password: >-\n  at least 12 characters
credentials: include
credential helper is not set
src/app.py:5432:12:app:undefined
localhost:5432:db is up
키 입력은 되나요
토큰이 만료되었습니다
Digest: sha256
a bot: x.y.z
""".strip()


class Sample(NamedTuple):
    """One piece of text with a secret in it, or none."""

    tier: int  # 0: a look-alike
    kind: str
    text: str
    secret: str


def fill(template: str, rng: random.Random) -> tuple[str, str]:
    """The template with random bodies; the secret is the longest body, of those marked ~ if any are."""
    secrets: list[str] = []
    bodies: list[str] = []

    def body(match: re.Match[str]) -> str:
        marked, kind, size = match[1], match[2], int(match[3] or 0)
        if kind == "basic":
            made = base64.b64encode(f"svc:{password(14, rng)}".encode()).decode()
        elif kind == "i":
            made = "-".join("".join(rng.choices("0123456789abcdef", k=n)) for n in (8, 4, 4, 4, 12))
        elif kind == "p":
            made = password(size, rng)
        else:
            made = "".join(rng.choices(ALPHABETS[kind], k=size))
        (secrets if marked else bodies).append(made)
        return made

    text = re.sub(r"\{(~?)(basic|[AxXubdlcpi])(\d*)\}", body, template).replace("{{", "{").replace("}}", "}")
    return text, max(secrets or bodies or [text], key=len)


def password(size: int, rng: random.Random) -> str:
    must = [
        rng.choice(string.ascii_lowercase),
        rng.choice(string.ascii_uppercase),
        rng.choice(string.digits),
        rng.choice("!#%*+=^~@"),
    ]
    made = must[:3] + rng.choices(string.ascii_letters + string.digits, k=size - 4)
    rng.shuffle(made)
    return "".join(made[:2] + must[3:] + made[2:])


WRAPPERS = (
    "{}",
    "use {} for now",
    "X={}",
    '{{"value": "{}"}}',
    "\x1b[33m{}\x1b[0m",
    "curl https://h/x?q={} -s",
    "log: got {}\nnext",
)


def corpus(seed: int, each: int = 3) -> Iterator[Sample]:
    """The whole made corpus; the same seed gives the same one."""
    rng = random.Random(seed)
    for template in TIER1:
        for _ in range(each):
            text, secret = fill(template, rng)
            yield Sample(1, template[:14], rng.choice(WRAPPERS).format(text), secret)
    for tier, templates in ((2, TIER2), (3, TIER3), (4, TIER4)):
        for template in templates:
            for _ in range(each):
                text, secret = fill(template, rng)
                yield Sample(tier, template[:30], text, secret)
    for template in LOOKALIKES.splitlines():
        for _ in range(each):
            yield Sample(0, template[:30], fill(template.replace("\\n", "\n"), rng)[0], "")


def survives(secret: str, text: str) -> bool:
    """Whether a piece of the secret long enough to matter is left."""
    size = max(4, min(8, len(secret)))
    return any(secret[at : at + size] in text for at in range(len(secret) - size + 1))
