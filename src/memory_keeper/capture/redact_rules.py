"""What secrets look like: tables of tokens, names and values, and the finders that read them.

Everything is bytes (UTF-8): one alphabet, no case folding surprises, the same positions in every copy of a text.
A finder gets the bytes and their lower-case copy and yields spans; `redact` decides when to ask which.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from re import Pattern

    Span = tuple[int, int, str]  # start, end, label
    Row = tuple[str, tuple[bytes, ...], bytes]  # label, how a token starts, a pattern for what follows
    Lead = int | str  # what to look for: a row of STARTS, or a name in FINDERS


def words(text: str) -> tuple[str, ...]:
    """Long tables of words are easier to read without their quotes."""
    return tuple(text.split())


WORD = rb"[0-9A-Za-z]"
SAFE = rb"[0-9A-Za-z_-]"  # the alphabet of url-safe base64
BASE64 = rb"[0-9A-Za-z+/]"
HEX = rb"[0-9a-fA-F]"
UUID = HEX + rb"{8}-" + HEX + rb"{4}-" + HEX + rb"{4}-" + HEX + rb"{4}-" + HEX + rb"{12}"

# Issuers that mark their tokens. A start needs a separator, a J or an A for the gate to hold on to (see `redact`).
# Bodies are a little wider than documented: lengths change.
STARTS: tuple[Row, ...] = (
    ("anthropic", (b"sk-ant-",), SAFE + rb"{20,}"),
    ("openrouter", (b"sk-or-",), SAFE + rb"{20,}"),
    ("openai", (b"sk-proj-", b"sk-svcacct-", b"sk-admin-", b"sk-None-"), SAFE + rb"{20,}"),
    ("api-key", (b"sk-", b"pk-lf-"), SAFE + rb"{20,}"),
    ("aws", (b"AKIA", b"ASIA", b"ABIA", b"ACCA"), rb"[A-Z0-9]{16}(?![0-9A-Za-z])"),
    ("aws", (b"ABSK",), BASE64 + rb"{60,}={0,2}"),
    ("aws", (b"bedrock-api-key-",), rb"[0-9A-Za-z+/=_-]{40,}"),
    ("aws", (b"da2-",), rb"[a-z0-9]{26}(?![0-9A-Za-z])"),
    ("aws", (b"amzn.mws.",), UUID),
    ("aws", (b"amzn1.oa2-cs.v1.",), HEX + rb"{60,}"),
    ("aws", (b"IQoJb3JpZ2lu",), rb"[0-9A-Za-z+/=%]{40,}"),
    ("github", (b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_"), rb"[0-9A-Za-z_]{30,}(?:\.[0-9A-Za-z_-]{8,}){0,2}"),
    ("github", (b"github_pat_",), rb"[0-9A-Za-z_]{36,}"),
    (
        "gitlab",
        tuple(b"gl" + kind + b"-" for kind in b"pat ptt rt rtr dt cbt ft soat oas ffct imt wt".split()),
        rb"[0-9A-Za-z_=-]{18,}(?:\.[0-9a-z]{2}\.[0-9a-z]{7,9})?",
    ),
    ("google", (b"AIza",), SAFE + rb"{33,40}(?![0-9A-Za-z])"),
    ("google", (b"GOCSPX-",), SAFE + rb"{24,}"),
    ("google", (b"ya29.",), rb"[0-9A-Za-z_.-]{20,}"),
    ("google", (b"AQ.Ab8",), SAFE + rb"{30,}"),
    ("slack", tuple(b"xox" + bytes([kind]) + b"-" for kind in b"abcdeoprs"), rb"[0-9A-Za-z%.-]{10,}"),
    ("slack", (b"xoxe.xox",), rb"[bp]-[0-9A-Za-z-]{20,}"),
    ("slack", (b"xapp-", b"xwfp-"), rb"[0-9A-Za-z-]{16,}"),
    ("slack", (b"hooks.slack.com",), rb"/(?:services|workflows|triggers)/[0-9A-Za-z_+/-]{20,}"),
    ("webhook", (b"discord.com", b"discordapp.com"), rb"/api/(?:v\d{1,2}/)?webhooks/\d{15,22}/[0-9A-Za-z_-]{40,}"),
    ("webhook", (b"webhook.office.com", b"outlook.office.com"), rb"/webhook[0-9A-Za-z]{0,3}/[0-9A-Za-z@/-]{40,}"),
    ("webhook", (b"hooks.zapier.com",), rb"/hooks/catch/\d{3,}/[0-9A-Za-z]{5,}"),
    (
        "stripe",
        (b"sk_live_", b"sk_test_", b"rk_live_", b"rk_test_", b"pk_live_", b"sk_prod_", b"rk_prod_"),
        WORD + rb"{10,}",
    ),
    ("webhook", (b"whsec_",), rb"[0-9A-Za-z+/]{24,}={0,2}"),
    ("npm", (b"npm_",), WORD + rb"{30,}"),
    ("pypi", (b"pypi-AgE",), SAFE + rb"{40,}"),
    ("rubygems", (b"rubygems_",), HEX + rb"{40,}"),
    ("clojars", (b"CLOJARS_",), WORD + rb"{50,}"),
    ("docker", (b"dckr_pat_", b"dckr_oat_"), SAFE + rb"{20,}"),
    ("huggingface", (b"hf_",), WORD + rb"{30,}"),
    ("huggingface", (b"api_org_",), WORD + rb"{30,}"),
    ("groq", (b"gsk_",), WORD + rb"{40,}"),
    ("xai", (b"xai-",), WORD + rb"{60,}"),
    ("perplexity", (b"pplx-",), WORD + rb"{32,}"),
    ("nvidia", (b"nvapi-",), SAFE + rb"{40,}"),
    ("replicate", (b"r8_",), WORD + rb"{30,}"),
    ("tavily", (b"tvly-",), SAFE + rb"{20,}"),
    ("langsmith", (b"lsv2_",), rb"(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{8,12}"),
    ("pinecone", (b"pcsk_",), rb"[0-9A-Za-z_]{40,}"),
    ("together", (b"tgp_v1_",), SAFE + rb"{30,}"),
    ("cursor", (b"crsr_",), HEX + rb"{40,}"),
    ("wandb", (b"wandb_v1_",), rb"[0-9A-Za-z_]{30,}"),
    ("digitalocean", (b"dop_v1_", b"doo_v1_", b"dor_v1_"), HEX + rb"{40,}"),
    ("heroku", (b"HRKU-",), rb"[0-9A-Za-z_-]{30,}"),
    ("netlify", (b"nfp_", b"nfc_", b"nfo_", b"nfb_", b"nfu_"), WORD + rb"{30,}"),
    ("vercel", (b"vcp_", b"vci_", b"vca_", b"vcr_", b"vck_", b"vercel_blob_rw_"), rb"[0-9A-Za-z_]{24,}"),
    ("render", (b"rnd_",), WORD + rb"{24,}"),
    ("fly", (b"fo1_", b"fm1a_", b"fm1r_", b"fm2_"), rb"[0-9A-Za-z_+/=,-]{40,}"),
    ("supabase", (b"sbp_",), rb"(?:v0_)?" + HEX + rb"{40,}"),
    ("supabase", (b"sb_secret_",), SAFE + rb"{20,}"),
    ("neon", (b"napi_",), WORD + rb"{40,}"),
    ("planetscale", (b"pscale_tkn_", b"pscale_pw_", b"pscale_oauth_"), rb"[0-9A-Za-z_.=-]{30,}"),
    ("mongodb", (b"mdb_sa_sk_",), SAFE + rb"{30,}"),
    ("cloudflare", (b"v1.0-",), rb"[0-9a-f]{24}-[0-9a-f]{100,}"),
    ("cloudflare", (b"cfut_", b"cfat_", b"cfk_"), WORD + rb"{30,}"),
    ("deno", (b"ddp_", b"ddw_"), WORD + rb"{30,}"),
    ("terraform", (b".atlasv1.",), SAFE + rb"{50,}"),
    ("vault", (b"hvs.", b"hvb.", b"hvr."), SAFE + rb"{24,}"),
    ("doppler", (b"dp.",), rb"(?:pt|st|ct|sa|scim|audit)\.(?:[0-9a-z_-]{2,35}\.)?[0-9A-Za-z]{40,}"),
    ("pulumi", (b"pul-",), HEX + rb"{40,}"),
    ("infracost", (b"ico-",), WORD + rb"{32}(?![0-9A-Za-z])"),
    ("scalingo", (b"tk-us-",), SAFE + rb"{40,}"),
    ("yandex", (b"AQVN",), SAFE + rb"{30,}"),
    ("yandex", (b"t1.", b"y0_"), rb"[0-9A-Za-z_-]{30,}(?:\.[0-9A-Za-z_-]{80,}={0,2})?"),
    ("tailscale", (b"tskey-",), rb"[a-z0-9]{2,12}-[0-9A-Za-z-]{10,}"),
    ("defined", (b"dnkey-",), SAFE + rb"{26,}"),
    ("onepassword", (b"ops_eyJ",), rb"[0-9A-Za-z+/_=-]{60,}"),
    ("age", (b"AGE-SECRET-KEY-1",), rb"[0-9A-Z]{40,}"),
    ("sendgrid", (b"SG.",), rb"[0-9A-Za-z_-]{16,32}\.[0-9A-Za-z_-]{30,}"),
    ("mailgun", (b"key-", b"pubkey-"), rb"[0-9a-f]{32}(?![0-9A-Za-z])"),
    ("brevo", (b"xkeysib-", b"xsmtpsib-"), rb"[0-9a-f]{40,}(?:-[0-9A-Za-z]{16})?"),
    ("shopify", (b"shpat_", b"shpca_", b"shppa_", b"shpss_", b"shptka_"), WORD + rb"{32,}"),
    ("square", (b"sq0atp-", b"sq0csp-", b"sq0idp-"), SAFE + rb"{22,}"),
    ("meta", (b"EAA",), rb"(?<![+/]EAA)[0-9A-Za-z]{60,}"),
    ("meta", (b"EAACEdEose0cBA",), WORD + rb"{10,}"),
    ("paypal", (b"access_token$",), rb"(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}"),
    ("plaid", (b"access-sandbox-", b"access-development-", b"access-production-"), UUID),
    ("flutterwave", (b"FLWSECK_TEST-", b"FLWSECK-", b"FLWSECK_LIVE-"), rb"[0-9A-Za-z-]{10,}"),
    ("razorpay", (b"rzp_live_", b"rzp_test_"), WORD + rb"{14,}"),
    ("shippo", (b"shippo_live_", b"shippo_test_"), HEX + rb"{40}"),
    ("duffel", (b"duffel_live_", b"duffel_test_"), rb"[0-9A-Za-z_=-]{40,}"),
    ("frameio", (b"fio-u-",), rb"[0-9A-Za-z_=-]{60,}"),
    ("adobe", (b"p8e-", b"s8e-"), SAFE + rb"{30,}"),
    ("adafruit", (b"aio_",), WORD + rb"{26,}"),
    ("intra42", (b"s-s4t2ud-", b"s-s4t2af-"), HEX + rb"{60,}"),
    ("atlassian", (b"ATATT3", b"ATCTT3", b"ATCATT3", b"ATOATT3"), rb"[0-9A-Za-z_=.-]{60,}"),
    ("atlassian", (b"ATBB",), WORD + rb"{28,}"),
    ("trello", (b"ATTA",), HEX + rb"{60,}"),
    ("linear", (b"lin_api_", b"lin_oauth_"), WORD + rb"{32,}"),
    ("notion", (b"ntn_",), WORD + rb"{40,}"),
    ("notion", (b"secret_",), WORD + rb"{40,}"),
    ("figma", (b"figd_", b"figdr_", b"figo_", b"figu_"), SAFE + rb"{30,}"),
    ("hubspot", (b"pat-na1-", b"pat-na2-", b"pat-eu1-", b"pat-ap1-"), UUID),
    ("typeform", (b"tfp_",), rb"[0-9A-Za-z_.-]{40,}"),
    ("contentful", (b"CFPAT-",), SAFE + rb"{40,}"),
    ("readme", (b"rdme_",), WORD + rb"{60,}"),
    ("postman", (b"PMAK-", b"PMAT-"), rb"[0-9A-Za-z-]{24,}"),
    ("newrelic", (b"NRAK-", b"NRII-", b"NRJS-", b"NRIQ-", b"NRRA-", b"NRAA-", b"NRSP-", b"NRBR-"), SAFE + rb"{18,}"),
    ("dynatrace", (b"dt0c01.", b"dt0s01.", b"dt0s02.", b"dt0s08.", b"dt0a01."), rb"[0-9A-Z]{8,24}\.[0-9A-Z]{40,}"),
    ("grafana", (b"glc_",), rb"[0-9A-Za-z+/=_-]{30,}"),
    ("grafana", (b"glsa_",), rb"[0-9A-Za-z]{32}_[0-9A-Fa-f]{8}"),
    ("grafana", (b"eyJrIjoi",), rb"[0-9A-Za-z+/=]{40,}"),
    ("sentry", (b"sntrys_eyJ",), rb"[0-9A-Za-z+/=_-]{60,}"),
    ("sentry", (b"sntryu_", b"sntrya_"), HEX + rb"{60,}"),
    ("sonar", (b"squ_", b"sqp_", b"sqa_"), HEX + rb"{40}(?![0-9A-Za-z])"),
    ("sourcegraph", (b"sgp_",), rb"(?:(?:[0-9a-f]{16}|local)_)?[0-9a-f]{40}"),
    ("sourcegraph", (b"slk_", b"sgd_"), HEX + rb"{40,}"),
    ("posthog", (b"phx_", b"phs_"), WORD + rb"{30,}"),
    ("launchdarkly", (b"sdk-", b"api-", b"mob-"), UUID + rb"(?![0-9A-Za-z-])"),
    ("stackhawk", (b"hawk.",), rb"[0-9A-Za-z_-]{20}\.[0-9A-Za-z_-]{20}"),
    ("rootly", (b"rootly_",), HEX + rb"{60,}"),
    ("buildkite", (b"bkua_", b"bkaj_", b"bkct_", b"bkpat_", b"bkpt_"), WORD + rb"{30,}"),
    ("circleci", (b"CCIPAT_", b"CCIPRJ_"), rb"[0-9A-Za-z]{16,30}_[0-9a-f]{40}"),
    ("octopus", (b"API-",), rb"[0-9A-Z]{25,}(?![0-9A-Za-z])"),
    ("harness", (b"pat.", b"sat."), rb"[0-9A-Za-z_-]{22}\.[0-9a-f]{24}\.[0-9A-Za-z]{20}"),
    ("prefect", (b"pnu_", b"pnb_"), WORD + rb"{36}"),
    ("settlemint", (b"sm_aat_", b"sm_pat_", b"sm_sat_"), WORD + rb"{16,}"),
    ("alibaba", (b"LTAI5t", b"LTAI4G", b"LTAI4F"), WORD + rb"{12,26}(?![0-9A-Za-z])"),
    ("artifactory", (b"AKCp",), WORD + rb"{50,}"),
    ("dependencytrack", (b"odt_",), WORD + rb"{30,}"),
    ("openshift", (b"sha256~",), SAFE + rb"{40,}"),
    ("salesforce", (b"00D",), rb"[0-9A-Za-z]{12,15}![0-9A-Za-z._]{60,}"),
    ("salesforce", (b"5Aep861",), rb"[0-9A-Za-z._=-]{60,}"),
    ("zoho", (b"1000.",), rb"[0-9a-f]{32}\.[0-9a-f]{32}"),
    ("zuplo", (b"zpka_",), rb"[0-9A-Za-z_]{30,}"),
    ("elastic", (b"essu_",), rb"[0-9A-Za-z+/=]{30,}"),
    ("dropbox", (b"sl.",), rb"(?:u\.)?[0-9A-Za-z_-]{120,}"),
    ("telegram", (b":AA",), rb"[0-9A-Za-z_-]{33}(?![0-9A-Za-z_-])"),
    ("mapbox", (b"sk.eyJ", b"tk.eyJ", b"pk.eyJ"), rb"[0-9A-Za-z_-]{20,}\.[0-9A-Za-z_-]{16,}"),
    ("jenkins", (b"{AQAAABAAAA",), rb"[0-9A-Za-z+/=]{20,}\}?"),
    (
        "private-key",
        (b"LS0tLS1CRUdJTi",),
        rb"(?:BSU0Eg|BQUklWQVRF|BFQyBQ|BPUEVOU1NI|BFTkNS|BEU0Eg|BQR1AgUFJJ)[0-9A-Za-z+/=\r\n]{20,}",
    ),
    ("ansible-vault", (b"$ANSIBLE_VAULT;",), rb"[0-9.]{3};[A-Z0-9]{3,8}[0-9A-Za-z_;.-]{0,60}[0-9a-f\s\\rn]{20,40000}"),
    ("akamai", (b"akab-",), rb"[0-9a-z]{16}-[0-9a-z]{16}"),
    ("meta", (b"IGQVJ",), SAFE + rb"{60,}"),
    (
        "paseto",
        (
            b"v1.local.",
            b"v2.local.",
            b"v3.local.",
            b"v4.local.",
            b"k1.secret.",
            b"k2.secret.",
            b"k3.secret.",
            b"k4.secret.",
        ),
        SAFE + rb"{16,}",
    ),
    ("docker", (b"SWMTKN-1-", b"SWMKEY-1-"), rb"[0-9A-Za-z+/-]{40,}"),
    ("llamacloud", (b"llx-",), SAFE + rb"{40,}"),
    ("nylas", (b"nyk_v0_", b"nyk_"), WORD + rb"{40,}"),
    ("wakatime", (b"waka_",), UUID),
    ("riot", (b"RGAPI-",), UUID),
    ("wundergraph", (b"cosmo_",), HEX + rb"{32}"),
    ("bitbucket", (b"BBDC-",), SAFE + rb"{40,}"),
    ("twitter", (b"AAAAAAAAAAAAAAAAAAAAA",), rb"[0-9A-Za-z]{4,80}%[0-9A-F]{2}[0-9A-Za-z%]{20,}"),
    ("ntlm", (b"TlRMTVNTUAA",), rb"[0-9A-Za-z+/]{28,}={0,2}"),
    ("ngrok", (b"cr_", b"ak_"), WORD + rb"{26,}(?![0-9A-Za-z])"),
    ("google-client", (b".apps.googleusercontent.com",), b""),
    ("sas", (b"sig=",), rb"[0-9A-Za-z%+/]{36,}(?:=|%3[Dd]){0,2}"),
)

# Starts without a byte for the gate to hold on to, but at the head of 27 letters and digits or more.
RUNS: tuple[Row, ...] = (
    ("databricks", (b"dapi", b"dose"), rb"[0-9a-f]{32}(?:-\d)?(?![0-9A-Za-z])"),
    ("crates", (b"cio",), WORD + rb"{32}(?![0-9A-Za-z])"),
    ("nuget", (b"oy2",), rb"[a-z0-9]{43}(?![0-9A-Za-z])"),
    ("clickhouse", (b"4b1d",), WORD + rb"{38}(?![0-9A-Za-z])"),
    ("nostr", (b"nsec1",), rb"[02-9ac-hj-np-z]{50,}"),
    ("wallet", (b"xprv", b"yprv", b"zprv", b"tprv"), rb"[1-9A-HJ-NP-Za-km-z]{90,}"),
    ("twilio", (b"SK",), rb"[0-9a-f]{32}(?![0-9A-Za-z])"),
    ("easypost", (b"EZAK", b"EZTK"), WORD + rb"{54}(?![0-9A-Za-z])"),
    ("google", (b"GOOG",), rb"[A-Z0-9]{20,60}(?![0-9A-Za-z])"),
    ("securestring", (b"01000000d08c9ddf0115d1118c7a00c04fc297eb",), HEX + rb"{40,}"),
    ("nats", (b"SU", b"SA", b"SO", b"SC", b"SN", b"SX"), rb"[A-Z2-7]{54,58}(?![0-9A-Za-z])"),
    ("mailchimp", (b"",), rb"[0-9a-f]{32}-us\d{1,2}(?![0-9A-Za-z])"),
    ("mailgun", (b"",), rb"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![0-9A-Za-z-])"),
    ("azure", (b"",), rb"[0-9A-Za-z]{52}JQQJ9[0-9A-Za-z]{20,40}"),
    ("artifactory", (b"cmVmdGtuOj",), WORD + rb"{40,}"),
    ("aws", (b"FwoGZXIvYXdz", b"FQoGZXIvYXdz"), rb"[0-9A-Za-z+/=%]{40,}"),
)

# Starts that are neither, or too short to look for everywhere: tried only where a secret's name stands nearby.
RIDERS: tuple[Row, ...] = (
    ("gitlab", (b"GR1348941",), SAFE + rb"{20,}"),
    ("google", (b"1//0",), SAFE + rb"{36,}"),
    ("scaleway", (b"SCW",), rb"[A-Z0-9]{17}(?![0-9A-Za-z])"),
    ("alibaba", (b"LTAI",), WORD + rb"{16,26}(?![0-9A-Za-z])"),
    ("asana", (b"1/", b"2/"), rb"\d{12,20}(?:/\d{12,20})?:[0-9a-f]{32}(?![0-9A-Za-z])"),
)

# --- names -----------------------------------------------------------------------------------------------------------

# Stems that name a secret when an assignment follows; looked for in lower case.
STEMS = (b"pass", b"secret", b"token", b"key", b"pw")

# Words after the stem: what the name holds is about a secret, not the secret.
ABOUT = frozenset(
    words(
        """
        id ids name names type types file files filename path paths dir folder url urls uri endpoint host port
        length len size count counts limit limits index idx field fields column columns label labels title text desc
        description hint prompt placeholder regex pattern patterns policy rule rules error errors err message msg
        status state expiry expires expiration ttl at age version algorithm alg format prefix suffix provider
        manager service store storage usage map list array set ring board frame event handler press down up bind
        binding bindings pair pairs space stone note visible input output validator validation schema model required
        enabled disabled env var variable variables ref refs arn source kind scope scopes class role fn func
        function helper utils util test tests check checks reset change changes changed confirm confirmation
        strength rotation rotate generator gen less mode method mapping lookup link page form dialog modal view
        button toggle icon budget window cost rate bytes json yaml yml md py ts js go rs sh html css lock cache
        exists found missing invalid valid present is has not true false hash hashed hasher digest fingerprint salt
        sum num number position offset order group groups stem stems word words string strings str int bool char
        chars kinds scanner scanning detector detection redacted redaction redactor leak leaks used last updated
        created modified date time day days verifier stored attachment ciphertext signature
        """
    )
)

# Words before `key` and `token` that make it a harmless one.
HARMLESS = frozenset(
    words(
        """
        public primary foreign cache sort partition index object dict map query lookup row column group unique
        translation locale hot shortcut arrow tab react item list parent node child cursor next prev previous page
        continuation continue cancellation cancel sync max min num input output total prompt completion special pad
        eos bos unk syntax lexer parser first last current peek expected unexpected press config option sub field
        meta data label message storage registry idempotency request lock change dedupe dedup event state props any
        some each every the a an this that which is no of for by with on or and enter escape return space ctrl alt
        shift cmd right left bucket s3 issue jira project host known authorized
        """
    )
)

# Words before `key` that say it opens something.
OPENING = frozenset(
    words(
        """
        api app access secret private auth account master shared encryption encrypt signing sign service admin
        license subscription crypto session jwt hmac webhook deploy consumer client vault aes rsa preshared server
        integration ingest write read root token user team org oauth sas connection apim function publish ssh
        decryption validation machine
        """
    )
)

_PASSWORDS = frozenset(("password", "passwd", "passwort", "passphrase", "passcode"))
_PASS = tuple(f"{user}pass" for user in words("user db root admin mysql ssh require key store ldap ftp smtp mail"))
_KEYS = tuple(f"{use}key" for use in words("api access private auth account master shared signing encryption secret"))
_CREDENTIALS = ("credential", "credentials", "auth", "jwt", "psk")

_FIRST = frozenset(
    (b"api", b"access", b"auth", b"bot", b"bearer", b"secret", b"client", b"refresh", b"session", b"personal")
)
NAME = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-"
_BEYOND = b"\"'`\\])* \t"  # what may close a name before the sign that assigns
_QUOTES = frozenset((b'"', b"'", b"`", b"\\"))
_VERBS = frozenset((b"is ", b"was", b"are", b"to ", b"as ", b"for", b"of ", b"on ", b"in ", b"at "))
_PARTICLES = frozenset(word.encode() for word in "는은가이를을は是为為")
_kinds: dict[bytes, str] = {}


def kind_of(name: bytes) -> str:
    """What a name says its value is: password, secret, token, key (a weak word), or, mostly, nothing secret."""
    kind = _kinds.get(name)
    if kind is None:
        if len(_kinds) > 5000:
            _kinds.clear()
        kind = _kinds[name] = _read_name(_words(name.decode("ascii", "replace")))
    return kind


def _words(name: str) -> list[str]:
    """`dbPassword2` and `DB_PASSWORD_2` alike: db, password, 2. Without `re`: the gate asks."""
    found, kind = [""], ""
    for char in name:
        now = "0" if char.isdigit() else "A" if char.isupper() else "a" if char.isalpha() else ""
        if (kind, now) == ("A", "a"):
            if len(found[-1]) > 1:  # of APIKey: the last capital begins the next word
                found[-1:] = [found[-1][:-1], found[-1][-1]]
        elif now != kind:
            found.append("")
        found[-1] += char.lower() if now else ""
        kind = now
    return [word for word in found if word]


def _read_name(parts: list[str]) -> str:
    while parts and parts[-1].isdigit():
        parts.pop()
    stems = [at for at, word in enumerate(parts) if word.startswith(("pass", "secret", "token", "key", "pw"))]
    if not parts or "public" in parts or not ABOUT.isdisjoint(parts[stems[0] + 1 :] if stems else parts[-1:]):
        return ""
    joined = "".join(parts)
    if not _PASSWORDS.isdisjoint(parts) or parts[-1] in ("pass", "pwd", "pw"):
        return "password"
    if joined.endswith(("password", "passwd", "pwd", "passphrase", "bindpw", "rootpw", "userpw", "adminpw", *_PASS)):
        return "password"
    before = parts[parts.index("key") - 1] if "key" in parts[1:] else ""
    if "secret" in parts or joined.endswith(("secret", *_KEYS)) or before in OPENING:
        return "secret"
    if "token" in parts or joined.endswith("token"):
        return "" if "token" in parts[1:] and parts[parts.index("token") - 1] in HARMLESS else "token"
    if parts[-1] in _CREDENTIALS:
        return "token"
    return "key" if before and before not in HARMLESS and parts[-1] == "key" else ""


def named(data: bytes, low: bytes, at: int, stem: bytes) -> tuple[str, int, int]:
    """What the name around the stem at this place promises, and where it begins and ends; nothing without assignment.

    The gate asks this of raw JSON too, so that an escape (\\n, \\t, \\") may stand wherever what it means may stand.
    """
    nothing = ("", at, at)
    after = low[at + len(stem) : at + len(stem) + 60]
    if after[:1] == b"s" and stem == b"token":
        return nothing  # they are counted, not kept
    gap = after.lstrip(NAME)
    end = at + len(stem) + len(after) - len(gap)
    sign = (gap.replace(b"\\t", b" ") if b"\\t" in gap else gap).lstrip(_BEYOND)
    first, closed, apart = sign[:1], gap[:1] in _QUOTES, gap[:1] in (b" ", b"\t")
    if not (
        first in (b"=", b":", b">", b"|", b"?", b"<")
        or (first == b"," and closed)
        or (first == b"(" and stem[:1] == b"p")
        or (apart and (sign[:3] in _VERBS or gap[1:2] in _QUOTES or data[at - 1 : at] in (b"-", b"/", b"_")))
        or (apart and (stem[:1] == b"p" or (sign[:12].isalnum() and not sign[:12].isalpha())))
        or (closed and gap[1:2] == b" ")
        or sign[:3] in _PARTICLES
        or b"value" in gap[:30]
        or (stem == b"pass" and low[max(0, at - 10) : at].find(b" as ") + low[max(0, at - 10) : at].find(b" is ") > -2)
    ):
        return nothing
    left = data[max(0, at - 48) : at]
    start = at - len(left) + len(left.rstrip(NAME + b"."))
    if data[start - 1 : start] == b"\\" and data[start : start + 1] in (b"n", b"r", b"t"):
        start += 1  # of an escape, not of the name
    name = data[start:end]
    if name.lower() == b"pass" and (first not in (b"=", b":") or name == b"PASS"):
        return nothing  # a verb, or a test that did
    kind = kind_of(name)
    word = data[max(0, start - 16) : start - 1].rpartition(b" ")[2] if data[start - 1 : start] == b" " else b""
    if word and word.isalpha() and stem[:1] != b"p":  # `api key`, `client secret`, `access token`
        joined = kind_of(word + b"_" + name)
        if joined and (not kind or word.lower() in _FIRST):
            return joined, start - 1 - len(word), end
    return kind, start, end


# --- values ----------------------------------------------------------------------------------------------------------

# Parts of what people write where a secret would stand.
PLACEHOLDERS = tuple(
    rb"""
    example sample your changeme change_me change-me placeholder dummy fake redact xxx todo ... **** mock foobar insert
    replace -here _here goeshere undefined process.env os.environ getenv import.meta env. config. settings. self. this.
    args. opts. options. req. request. params. props. state. secrets. vars. var. data. ${ {{ $( %( <% #{ :// 123456
    abcdef qwerty hidden masked deadbeef 00000000 11111111 aaaaaa notreal not-a not_a bogus
    """.split()
)
# Words that are no secret by themselves: what is left without them must be one.
_FILLERS = tuple(
    b"""
    supersecret password passwort database username invalid correct account apikey string secret server strong passwd
    default access admin value valid wrong login local token right null none test user pass enter super some user prod
    root temp good word new old the key api bad dev foo bar baz abc xyz my db pw 12345 1234 123
    """.split()
)

# Whole values that are words of the trade.
TRADE = frozenset(
    b"""
    sha1 sha256 sha384 sha512 md5 base64 base32 oauth2 oauth1 utf8 utf-8 pbkdf2 argon2 argon2id bcrypt hs256
    rs256 es256 aes256 aes128 aes-256-gcm aes-256-cbc ed25519 x25519 rsa2048 rsa4096 secp256k1 p256 http2 ipv4
    ipv6 log4j ec2 s3 k8s i18n l10n int32 int64 uint8 uint32 uint64 float32 float64 u8 u16 u32 u64 i32 i64 f32
    f64 latin1 iso8859 plain text postgres postgresql mysql admin root user guest secret pass pw localhost
    default anonymous nobody test public master
    """.split()
)

_CLASSES = bytes(
    48 if 48 <= byte < 58 else 65 if 65 <= byte < 91 else 97 if 97 <= byte < 123 else 120 for byte in range(256)
)
_TURNS = (b"a0", b"0a", b"A0", b"0A", b"aA", b"ax", b"xa", b"Ax", b"xA", b"0x", b"x0")


def mess(value: bytes) -> int:
    """How often the kind of character changes, the capitals of words aside: low for words, high for random text."""
    shape = value.translate(_CLASSES, b"-_./: ")
    return sum(shape.count(turn) for turn in _TURNS)


def fits(kind: str, form: str, quoted: bool, value: bytes, name: bytes = b"") -> bool:
    """Whether a value, written after its name in this form, can be the secret the name promises."""
    flag = name[:1] == b"-"
    if kind == "password":
        loose = form == "space" and not flag and (not quoted or name[-4:].lower() == b"pass")
        if loose or form in ("pair", "cell") or (form == "paren" and not quoted):
            return _passwordish(value)
        return _password(value, quoted) or (form == "assign" and _plain_password(value, quoted, name))
    if kind == "key":
        return form in ("assign", "entry", "attribute", "markup") and _random(value, kind)
    if form == "space" and not flag:
        return _strong(value) and not _placeholder(value) and not name.isalnum()
    if form in ("prose", "colon", "cell", "pair", "below", "paren", "particle"):
        return _strong(value) and not _placeholder(value)
    return _random(value, kind)


def _stand_in(value: bytes) -> bool:
    """Something written where a secret would stand."""
    low = value.lower()
    return low in TRADE or len(set(low)) < 4 or b"\x00" in low or any(word in low for word in PLACEHOLDERS)


def _placeholder(value: bytes) -> bool:
    """That, or a word or two that everybody uses: `test-password-1`."""
    if _stand_in(value) or len(set(value)) < 5:
        return True
    low = value.lower()
    for word in _FILLERS:
        low = low.replace(word, b"")
    return len(low.translate(None, b"-_. !0123456789" if len(low) < 6 else b"-_. ")) < 4


def _password(value: bytes, quoted: bool) -> bool:
    if not 5 <= len(value) <= 200 or not value.isascii() or b" " in value or _placeholder(value) or _coded(value):
        return False
    if value[:1] in b"$<{%[*(|/~." or value[:2] in (b"--", b"->", b"!=") or _regex(rb"\d{4}-\d\d-\d\d").match(value):
        return False
    letters = any(65 <= byte < 91 or 97 <= byte < 123 for byte in value)
    digits = sum(48 <= byte < 58 for byte in value)
    marks = sum(byte in b"!@#$%^&*+?~=;,\\|:" for byte in value)
    if quoted:
        return (letters and bool(digits or marks)) or digits >= 8
    return letters and digits > 0 and (marks > 0 or mess(value) > 0)


def _plain_password(value: bytes, quoted: bool, name: bytes) -> bool:
    """Letters only: where a string is assigned, or in the manner of an environment file."""
    if not value.isalpha() or not 8 <= len(value) <= 40 or value.istitle() or _placeholder(value):
        return False
    return (quoted and bool(name)) or name.isupper()


def _passwordish(value: bytes) -> bool:
    """A password even where little says so: three kinds of characters, mixed."""
    kinds = (
        value.lower() != value,
        value.upper() != value,
        any(48 <= byte < 58 for byte in value),
        not value.translate(None, b"_-").isalnum(),
    )
    return len(value) >= 8 and sum(kinds) >= 3 and mess(value) > 1 and not _worded(value) and _password(value, False)


def _random(value: bytes, kind: str) -> bool:
    """Whether a value looks drawn at random, as tokens and keys are."""
    if not 8 <= len(value) <= 4000 or not value.isascii() or b" " in value or value[:1] in b"$<{%[*(|~.":
        return False
    if kind != "key" and _strong(value):
        return not any(
            word in value.lower() for word in (b"xxxx", b"example", b"your", b"redact", b"${", b"{{", b"...")
        )
    if _placeholder(value) or _coded(value) or _worded(value):
        return False
    turns = mess(value)
    if kind == "key":  # a weak word: not for hashes
        hexadecimal = _regex(rb"[0-9a-fA-F-]+$").match(value)
        return len(value) >= 20 and turns * 4 > len(value) and (len(value) == 32 or not hexadecimal)
    if value.isalpha() and value.islower():
        return len(value) >= 16 and bool(_regex(rb"[b-df-hj-np-tv-z]{5}").search(value))
    return len(value) >= (8 if kind == "secret" else 12) and turns >= 3 and turns * 5 >= len(value)


def _strong(value: bytes) -> bool:
    """Random beyond doubt."""
    if len(value) < 16 or len(set(value)) < 8 or b"\x00" in value:
        return False
    return mess(value) * 5 >= len(value) and not _coded(value) and not _worded(value)


def _coded(value: bytes) -> bool:
    """Paths, calls, members: code rather than a value."""
    if _regex(rb"[./~][/.]|[A-Za-z]:\\|[a-z-]+/[a-z-]+(?:/|$)|[a-z]+://|arn:|[^(]*\(").match(value):
        return True
    members = _regex(rb"[A-Za-z_][0-9A-Za-z_]*(?:(?:\.|::|->|\[)[A-Za-z_][0-9A-Za-z_]*)+$").match(value)
    return bool(members) and mess(value) * 4 < len(value)


def _worded(value: bytes) -> bool:
    """Mostly words, as names in code are, whatever digits they carry."""
    if value.lower() == value:
        return False
    runs = _regex(rb"[A-Z]?[a-z]{3,}").findall(value)
    spoken = [word for word in runs if not _regex(rb"(?i)[^aeiouy]{4}|^[^aeiouy]+$").search(word)]
    return sum(map(len, spoken)) * 2 > len(value)


def _alive(token: bytes, label: str) -> bool:
    """Whether a token of a known shape is one, not the picture of one in a manual."""
    low = token.lower()
    if len(set(token)) < 7 or any(word in low for word in (b"xxxx", b"example", b"your", b"redact", b"****")):
        return False
    return label in ("aws", "private-key", "google-client") or mess(token) > 2


# --- finders ---------------------------------------------------------------------------------------------------------

_compiled: dict[bytes, Pattern[bytes]] = {}


def _regex(pattern: bytes) -> Pattern[bytes]:
    """Compiled on first need: most processes meet few kinds of secrets, and hooks none."""
    found = _compiled.get(pattern)
    if found is None:
        import re

        found = _compiled[pattern] = re.compile(pattern)
    return found


def find(data: bytes, leads: Iterable[Lead]) -> Iterator[Span]:
    """Where the secrets are that these leads speak of."""
    low = data.lower()
    for lead in leads:
        if isinstance(lead, str):
            yield from FINDERS[lead](data, low)
        else:
            yield from _find_start(data, STARTS[lead])


def _each(data: bytes, literal: bytes) -> Iterator[int]:
    at = data.find(literal)
    while at >= 0:
        yield at
        at = data.find(literal, at + 1)


def _fresh(data: bytes, at: int) -> bool:
    """Whether a token may begin here: no word before it, unless that is the end of an escape."""
    if at == 0 or data[at - 1] not in NAME:
        return True
    return (
        data[at - 2 : at] in (b"\\n", b"\\r", b"\\t")
        or data[at - 3 : at - 2] == b"%"
        or data[at - 6 : at - 4] == b"\\u"
    )


def _find_start(data: bytes, row: Row) -> Iterator[Span]:
    label, starts, body = row
    for start in starts:
        at = data.find(start)
        while at >= 0:
            begin, after = at, at + len(start)
            match = _regex(body).match(data, after)
            if match is None:
                at = data.find(start, at + 1)
                continue
            if start[0] not in NAME:  # the token reaches back over its start: `123456789:AA...`
                left = data[max(0, at - 80) : at]
                begin -= len(left) - len(left.rstrip(NAME))
            elif start.endswith(b"=") or body.startswith(b"/"):
                begin = after  # a parameter's name or a host says nothing
            if (begin != at or _fresh(data, at)) and _alive(data[begin : match.end()], label):
                yield begin, match.end(), label
            at = data.find(start, max(match.end(), at + 1))  # not from within: a long run would be read again and again


LONG = 28  # letters and digits together: longer than any id of the host's
_FOLD = bytes(97 if byte < 128 and chr(byte).isalnum() else 32 for byte in range(256))
_RUN_STARTS = tuple(start for _, starts, _ in RUNS for start in starts if start)


def random_runs(data: bytes) -> Iterator[tuple[int, int]]:
    """Long runs of letters and digits that may be the body of a token: behind a separator, or with a start we know."""
    folded = data.translate(_FOLD)
    start = folded.find(b"a" * LONG)
    while start >= 0:
        end = folded.find(b" ", start + LONG)
        end = end if end >= 0 else len(data)
        if data[start - 1 : start] == b"\\" and data[start : start + 1] in (b"n", b"r", b"t"):
            start += 1  # of an escape, not of the token
        if _random_run(data, start, end):
            yield start, end
        start = folded.find(b"a" * LONG, end)


def _random_run(data: bytes, start: int, end: int) -> bool:
    head = data[start : start + LONG]
    if (
        head.startswith(_RUN_STARTS)
        or data[end : end + 3] == b"-us"
        or data[end : end + 1] == data[end + 9 : end + 10] == b"-"
    ):
        return True
    if end - start > 75 and b"JQQJ9" in data[start:end]:
        return True
    if data[start - 1 : start] not in (b"_", b"-", b".", b"|"):
        return False
    plain = head.isalpha() or head.islower() or head.isupper() or head.isdigit()
    return not plain or data[start - 18 : start - 15] == b"pat"


_PREFIX = rb"(?:[a-z]{2,12}|[A-Z]{2,12})\d{0,2}"
_IDS = tuple(b"toolu_ srvtoolu msg_ req_ call_ chatcmpl resp_ run_ sha md5 file img chunk index h1-".split())


def _find_random(data: bytes, low: bytes) -> Iterator[Span]:
    """Long random runs: of issuers without a separator, or behind a prefix of a word or three nobody told us of."""
    prefix = _regex(rb"(?<![0-9A-Za-z_./+-])" + _PREFIX + rb"(?:[_-](?:" + _PREFIX + rb"|\d{1,4})){0,3}[_-]$")
    dotted = _regex(
        rb"(?<![0-9A-Za-z_./+-])(?:pat[0-9A-Za-z]{14}\.|[MNO][0-9A-Za-z_-]{23,27}\.[0-9A-Za-z_-]{6}\.|\d{12,18}\|)$"
    )
    for start, end in random_runs(data):
        if _fresh(data, start):
            for label, starts, body in RUNS:
                known = next((known for known in starts if data.startswith(known, start)), None)
                match = None if known is None else _regex(body).match(data, start + len(known))
                if match and _alive(data[start : match.end()], label):
                    yield start, match.end(), label
        if mess(data[start:end]) * 5 <= end - start or not _alive(data[start:end], ""):
            continue
        left = dotted.search(data, max(0, start - 40), start)
        if left:
            yield left.start(), end, "token"
        left = prefix.search(data, max(0, start - 60), start)
        if left and data[end : end + 1] not in (b"+", b"/", b"=") and not low[left.start() : start].startswith(_IDS):
            before = low[max(0, left.start() - 6) : left.start()].rstrip(b"\"'`\\=: ")
            if not before.endswith(b"id"):
                yield left.start(), end, "token"


def _find_jwt(data: bytes, low: bytes) -> Iterator[Span]:
    pattern = _regex(rb"eyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]{8,}(?:\.[0-9A-Za-z_-]*){1,3}")
    for at in _each(data, b"eyJ"):
        match = pattern.match(data, at) if _fresh(data, at) else None
        if match:
            yield at, match.end(), "jwt"


def _find_private(data: bytes, low: bytes) -> Iterator[Span]:
    """What the user put between <private> and </private>; a tag left open hides the rest."""
    at = low.find(b"<private>")
    while at >= 0:
        end = low.find(b"</private>", at)
        end = end + len(b"</private>") if end >= 0 else len(data)
        yield at, end, "private"
        at = low.find(b"<private>", end)


def _find_pem(data: bytes, low: bytes) -> Iterator[Span]:
    """Private keys, the whole body, whether its lines end in newlines or in escapes, and behind line numbers."""
    stop = closing = 0
    for match in _regex(rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----").finditer(data):
        if match.start() < stop:
            continue
        if 0 <= closing < match.end():
            closing = data.find(b"-----END", match.end())
        if 0 <= closing <= match.end() + 40000:
            dashes = data.find(b"-----", closing + 8, closing + 80)
            stop = dashes + 5 if dashes >= 0 else closing + 8
        else:  # cut off: as far as it looks like base64, line numbers and escapes
            rest = _regex(rb"(?:[0-9A-Za-z+/=\s\\\"',:|>.-]|\xe2\x86\x92){0,40000}").match(data, match.end())
            stop = rest.end() if rest else match.end()
        if _regex(rb"[0-9A-Za-z+/]{20}").search(data, match.end(), stop):
            yield match.start(), stop, "private-key"
    putty = _regex(rb"Private-Lines: \d{1,3}\s{1,4}((?:[0-9A-Za-z+/=]{1,80}\r?\n){1,80})")
    for match in putty.finditer(data):
        yield match.start(1), match.end(1), "private-key"


def _find_uri(data: bytes, low: bytes) -> Iterator[Span]:
    pattern = _regex(rb"://([^\s/?#@:\"'`<>\\\x00]{0,120})(?::([^\s/\"'`<>\\\x00]{1,256}))?@(?=[0-9A-Za-z\[._$%{-])")
    for at in _each(data, b"://"):
        match = pattern.match(data, at)
        if match and match[2] and _uri_password(match[2]):
            yield match.start(2), match.end(2), "uri-password"
        if match and _strong(match[1]) and len(match[1]) >= 20:
            yield match.start(1), match.end(1), "uri-token"


def _uri_password(value: bytes) -> bool:
    if len(value) < 3 or value[:1] in b"${<*[" or b"," in value or _stand_in(value):
        return False
    return not value.lower().startswith((b"pass", b"secret", b"token"))


def _find_sql(data: bytes, low: bytes) -> Iterator[Span]:
    pattern = _regex(
        rb"(?i)identified (?:with [0-9a-z_'\"]{1,40} )?(?:by|as) (?:password )?"
        rb"(?:'([^'\r\n]{4,100})'|\"([^\"\r\n]{4,100})\"|([0-9A-Za-z_@#!$]{6,100}))"
    )
    for at in _each(low, b"identified "):
        match = pattern.match(data, at)
        if match and match.lastindex and _password(match[match.lastindex], match.lastindex < 3):
            yield match.start(match.lastindex), match.end(match.lastindex), "password"


def _find_auth(data: bytes, low: bytes) -> Iterator[Span]:
    header = _regex(
        rb"(?i)authorization(?:\\{0,7}[\"'`])?\]?\s{0,4}[:=,]\s{0,4}(?:[bfru]?\\{0,7}[\"'`])?\s?"
        rb"(?:([A-Za-z][0-9A-Za-z_-]{1,20})\s{1,3})?([0-9A-Za-z._~+/=:|!-]{6,4000})"
    )
    for at in _each(low, b"authorization"):
        match = None if data[at - 1 : at].isalnum() else header.match(data, at)
        if match and _credential(match[1] or b"", match[2]):
            yield match.start(2), match.end(2), "authorization"
    bearer = _regex(rb"(?i)bearer(?:\s|%20|\+){1,3}[\"']?([0-9A-Za-z._~+/=:|!-]{8,4000})")
    for at in _each(low, b"bearer"):
        match = bearer.match(data, at)
        if match and _credential(b"bearer", match[1]):
            yield match.start(1), match.end(1), "bearer"
    field = _regex(
        rb"(?i)auth(?:entication|orization)?(?:\\{0,7}[\"'])?\s{0,3}[:=]\s{0,3}(?:\\{0,7}[\"'])?"
        rb"([0-9A-Za-z+/]{12,400}={0,2})(?![0-9A-Za-z+/=._(\[-])"
    )
    for at in _each(low, b"auth"):
        match = None if data[at - 1 : at].isalnum() else field.match(data, at)
        if match and (_basic(match[1]) or _strong(match[1])):
            yield match.start(1), match.end(1), "authorization"


def _credential(scheme: bytes, value: bytes) -> bool:
    if scheme.lower() == b"basic":
        return _basic(value)
    if _worded(value) or _placeholder(value) or _coded(value):
        return False
    return _strong(value) or (bool(scheme) and len(value) >= 12 and mess(value) > 2)


def _basic(value: bytes) -> bool:
    """Whether this is base64 of user:password."""
    from binascii import a2b_base64

    try:
        plain = a2b_base64(value + b"=" * (-len(value) % 4))
    except ValueError:
        return False
    return b":" in plain[1:] and len(plain) > 5 and plain.isascii() and plain.decode("ascii").isprintable()


def _find_cookie(data: bytes, low: bytes) -> Iterator[Span]:
    header = _regex(rb"(?i)cookies?(?:\\{0,7}[\"'`])?\]?\s{0,3}[:=]\s{0,3}")
    pair = _regex(rb"([0-9A-Za-z_.%-]{1,80})=([^;\s\"'\\,\x00]{8,4000})")
    stop = 0
    for at in _each(low, b"cookie"):
        match = header.match(data, at) if at >= stop else None
        if match is None:
            continue
        line = data.find(b"\n", match.end(), match.end() + 8000)
        stop = line if line >= 0 else min(len(data), match.end() + 8000)
        for one in pair.finditer(data, match.end(), stop):
            if one[1].lower() not in _ATTRIBUTES and not _placeholder(one[2]) and mess(one[2]) > 2:
                yield one.start(2), one.end(2), "cookie"


_ATTRIBUTES = (b"path", b"domain", b"expires", b"max-age", b"samesite")


def _find_azure(data: bytes, low: bytes) -> Iterator[Span]:
    pattern = _regex(rb"(?<![0-9A-Za-z_~.-])[0-9A-Za-z_~.]{3}\dQ~[0-9A-Za-z_~.-]{31,34}(?![0-9A-Za-z_~-])")
    for at in _each(data, b"Q~"):
        match = pattern.match(data, at - 4) if at >= 4 else None
        if match:
            yield match.start(), match.end(), "azure"


def _find_hash(data: bytes, low: bytes) -> Iterator[Span]:
    pattern = _regex(
        rb"\$(?:2[abxy]\$\d\d\$[./0-9A-Za-z]{53}"
        rb"|(?:1|apr1)\$[./0-9A-Za-z]{1,16}\$[./0-9A-Za-z]{22}"
        rb"|[56]\$(?:rounds=\d{1,9}\$)?[./0-9A-Za-z]{1,16}\$[./0-9A-Za-z]{43,86}"
        rb"|y\$[./0-9A-Za-z]{1,20}\$[./0-9A-Za-z]{0,86}\$[./0-9A-Za-z]{43}"
        rb"|[PHS]\$[./0-9A-Za-z]{31,52}|[89]\$[./0-9A-Za-z]{14}\$[./0-9A-Za-z]{43}"
        rb"|argon2(?:id|i|d)\$(?:v=\d{1,3}\$)?[a-z0-9=,]{5,40}\$[0-9A-Za-z+/]{8,80}\$[0-9A-Za-z+/]{16,120}"
        rb"|scrypt\$[0-9a-z=,]{5,40}\$[0-9A-Za-z+/.]{8,100}\$[0-9A-Za-z+/.=]{16,120}"
        rb"|krb5(?:tgs|asrep|pa)\$\d{1,3}\$[0-9A-Za-z*$@.:/_-]{16,4000})"
        rb"|pbkdf2_sha\d{1,3}\$\d{1,8}\$[0-9A-Za-z+/]{4,40}\$[0-9A-Za-z+/=]{20,100}"
    )
    for match in pattern.finditer(data):
        yield match.start(), match.end(), "password-hash"


# Programs that take a password on their command line, and how.
COMMANDS: tuple[tuple[bytes, bytes], ...] = (
    (
        b"curl",
        rb"[^\n;|]{0,400}?\s(?:-[a-zA-Z]{0,4}[uU]|--(?:proxy-)?user)[ =]?[\"']?[^\s:\"'/]{1,80}:([^\s\"']{3,200})",
    ),
    (b"mysql", rb"(?:dump|admin|import|show|check|slap|sh)?\b[^\n;|]{0,300}?\s-p([^\s\"'$<][^\s\"']{3,100})"),
    (b"mariadb", rb"(?:-dump|-admin)?\b[^\n;|]{0,300}?\s-p([^\s\"'$<][^\s\"']{3,100})"),
    (b"sshpass", rb"\s{1,4}-p\s?[\"']?([^\s\"']{4,100})"),
    (b"redis-cli", rb"[^\n;|]{0,200}?\s-a\s{1,3}[\"']?([^\s\"']{4,200})"),
    (b"mongo", rb"[^\n;|]{0,200}?\s-p\s{1,3}[\"']?([^\s\"'-][^\s\"']{3,100})"),
    (b"docker login", rb"[^\n;|]{0,200}?\s-p\s{1,3}[\"']?([^\s\"'-][^\s\"']{3,300})"),
    (b"podman login", rb"[^\n;|]{0,200}?\s-p\s{1,3}[\"']?([^\s\"'-][^\s\"']{3,300})"),
    (b"az login", rb"[^\n;|]{0,200}?\s-p\s{1,3}[\"']?([^\s\"'-][^\s\"']{3,300})"),
    (b"psexec", rb"[^\n;|]{0,200}?\s-p\s{1,3}[\"']?([^\s\"'-][^\s\"']{3,100})"),
    (b"ldap", rb"(?:search|modify|add|whoami|passwd)\b[^\n;|]{0,300}?\s-w\s{1,3}[\"']?([^\s\"'-][^\s\"']{3,100})"),
    (
        b"htpasswd",
        rb"[^\n;|]{0,100}?\s-[a-zA-Z]{0,4}b[a-zA-Z]{0,3}\s{1,3}\S{1,120}\s{1,3}\S{1,80}\s{1,3}[\"']?([^\s\"']{4,100})",
    ),
    (b"smbclient", rb"[^\n;|]{0,200}?\s-U\s{1,3}[\"']?[^\s%\"']{1,80}%([^\s\"']{4,100})"),
    (b"7z", rb"\s[^\n;|]{0,200}?\s-p([^\s\"'$<][^\s\"']{3,100})"),
    (b"zip", rb"\s[^\n;|]{0,200}?\s-P\s{1,3}[\"']?([^\s\"'-][^\s\"']{3,100})"),
    (
        b"openssl",
        rb"\s[^\n;|]{0,300}?\s-(?:pass(?:in|out)?\s{1,3}[\"']?pass:|k\s{1,3}[\"']?)([^\s\"'-][^\s\"']{3,100})",
    ),
    (b"nuget push", rb"[^\n;|]{0,300}?\s-k\s{1,3}[\"']?([^\s\"'-][^\s\"']{15,100})"),
    (b"cargo login", rb"\s{1,4}[\"']?([^\s\"'-][^\s\"']{15,100})"),
    (b"convertto-securestring", rb"\s{1,4}(?:-String\s{1,4})?[\"']([^\s\"'$][^\s\"']{4,100})"),
)


def _find_command(data: bytes, low: bytes) -> Iterator[Span]:
    for name, usage in COMMANDS:
        for at in _each(low, name):
            match = _regex(usage).match(data, at + len(name))
            if match and match[1][:1] not in b"$<{*%" and not _stand_in(match[1]):
                yield match.start(1), match.end(1), "password"


# `password` in other tongues; what may stand between it and the value.
FOREIGN = tuple(
    word.encode() for word in words("비밀번호 암호 패스워드 비번 パスワード 密码 密碼 口令 пароль contraseña")
)
_PARTICLE = b"(?:" + b"|".join(word.encode() for word in "는은가이를을は是为為") + b")"


def _find_foreign(data: bytes, low: bytes) -> Iterator[Span]:
    pattern = _regex(_PARTICLE + rb"?[ \t]{0,3}(?:[:=(]|\xef\xbc\x9a|->|=>)?[ \t]{0,4}[\"'`]?([!-~]{6,100})")
    for word in FOREIGN:
        for at in _each(data, word):
            match = pattern.match(data, at + len(word))
            value = match[1].rstrip(b"\"'`.,;:)]}>") if match else b""
            if match and _password(value, False):
                yield match.start(1), match.start(1) + len(value), "password"


_VALUE = (
    rb"(?:[bBrRuUfFNL@$]{0,2}\\{0,7}(?:\"(?P<d>(?:[^\"\\\r\n\x00]|\\[^\"\\nrtu]){1,400})"
    rb"|'(?P<s>(?:[^'\\\r\n\x00]|\\[^'\\nrtu]){1,400})|`(?P<b>[^`\\\r\n\x00]{1,400}))"
    rb"|(?P<u>[^\s\"'`,;<>(){}\[\]|\\\x00\x80-\xff]{3,400}))"
)
_QUOTED = rb"\\{0,7}(?:\"(?P<d>[^\"\\\r\n\x00]{1,400})|'(?P<s>[^'\\\r\n\x00]{1,400}))"
_OF = rb"(?:for|of|to|on|in|at)[ \t][0-9A-Za-z@._ -]{1,40}?"
# What may stand between a secret's name and its value. The first that matches decides, unless it was only prose.
FORMS: tuple[tuple[str, bytes], ...] = (
    (
        "assign",
        rb"(?:\\{0,7}[\"'`])?[\])]?[ \t]{0,20}(?:\*\*)?"
        rb"(?:(?::|[ \t])[ \t]{0,4}[A-Za-z_][0-9A-Za-z_.\[\]|<>?]{0,40}[ \t]{0,4}=|[!=:?|+]?={1,3}>?|:|->|\|\||\?\?)"
        rb"(?:\*\*)?[ \t]{0,20}" + _VALUE,
    ),
    ("particle", _PARTICLE + rb"[ \t]{0,4}" + _VALUE),
    (
        "prose",
        rb"(?:\\{0,7}[\"'`*]{1,3})?[ \t]{1,4}(?:" + _OF + rb"[ \t])?(?:is|was|to|as|are)"
        rb"(?:[ \t]{1,3}(?:now|currently|still|set to|just|simply|actually))?[ \t]?:?[ \t]{1,4}" + _VALUE,
    ),
    ("colon", rb"[ \t]" + _OF + rb"[ \t]?:[ \t]{0,4}" + _VALUE),
    ("paren", rb"[ \t]?\(" + _VALUE + rb"[\"']?\)"),
    ("markup", rb"(?:\"?[ \t][^<>\r\n]{0,80})?>[ \t]{0,4}(?P<u>[^<>\r\n\x00]{4,300})</"),
    ("markup", rb"</key>(?:\s|\\n){0,40}<string>(?P<u>[^<>\r\n\x00]{4,300})</"),
    ("attribute", rb"\\{0,7}[\"'][ \t]{1,8}(?:value|content|default)[ \t]?=[ \t]?" + _QUOTED),
    (
        "entry",
        rb"\\{0,7}[\"']?,?(?:\s|\\n){1,40}\\{0,7}[\"']?[vV]alue\\{0,7}[\"']?[ \t]{0,4}[:=][ \t]{0,4}" + _VALUE,
    ),
    ("pair", rb"\\{0,7}[\"'](?:\]|\))?[ \t]{0,4}(?:,|=>)(?:\s|\\n){0,20}" + _QUOTED),
    ("space", rb"(?:\\{0,7}[\"'])?[ \t]{1,4}" + _VALUE),
    ("below", rb"[^:\r\n\x00]{0,80}:(?:\s|\\n){1,20}(?P<u>[0-9A-Za-z]{24,64})(?![^\s\\])"),
    ("cell", rb"[ \t*`]{0,20}\|[ \t`]{0,20}(?P<u>[^\s|`\x00]{6,200})[ \t`]{0,20}\|"),
)


def _find_named(data: bytes, low: bytes) -> Iterator[Span]:
    """Values of names that say they are secret: `DB_PASSWORD=...`, `"apiKey": "..."`, `the password is ...`."""
    for stem in STEMS:
        for at in _each(low, stem):
            kind, start, end = named(data, low, at, stem)
            if kind:
                yield from _find_value(data, kind, start, end)
    for row in RIDERS:
        yield from _find_start(data, row)


_TURNED = frozenset((b"as", b"is"))


def _find_value(data: bytes, kind: str, start: int, end: int) -> Iterator[Span]:
    name = data[start:end]
    for form, pattern in FORMS:
        match = _regex(pattern).match(data, end)
        if match is None:
            continue
        group = match.lastgroup or "u"
        value = match[group]
        if group == "u":
            value = _regex(rb"&[0-9A-Za-z_.%-]{1,40}=").split(value, 1)[0]  # the next parameter of a URL
            value = value.rstrip(b".:?!*" if form in ("prose", "colon", "space") else b":*")
        begin, stop = match.start(group), match.start(group) + len(value)
        call = group == "u" and data[stop : stop + 1] in (b"(", b"[", b"{")
        path = group == "u" and data[start - 1 : start] == b":" == data[end : end + 1]  # arn:...:secret:name
        if not call and not path and fits(kind, form, group != "u", value, name):
            yield begin, stop, kind
        if form != "prose":  # `password to get in:` may have its value below
            break
    if kind == "password" and not _TURNED.isdisjoint(data[max(0, start - 12) : start].split()):
        # the other way round: `use ... as the password`
        match = _regex(
            rb"([^\s\"'`\x00]{6,60})[\"'`]?[ \t]{1,3}(?:as|is)[ \t]{1,3}(?:(?:the|my|your|our|its|a)[ \t]{1,3})?$"
        ).search(data, max(0, start - 90), start)
        if match and _passwordish(match[1]):
            yield match.start(1), match.end(1), kind


FINDERS: dict[str, Callable[[bytes, bytes], Iterator[Span]]] = {
    "jwt": _find_jwt,
    "random": _find_random,
    "private": _find_private,
    "pem": _find_pem,
    "uri": _find_uri,
    "sql": _find_sql,
    "auth": _find_auth,
    "cookie": _find_cookie,
    "azure": _find_azure,
    "hash": _find_hash,
    "named": _find_named,
    "command": _find_command,
    "foreign": _find_foreign,
}
