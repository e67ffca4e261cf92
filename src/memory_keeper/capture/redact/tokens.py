"""How tokens begin: issuers that mark theirs, in tables, and long runs that look drawn at random.

Everything is bytes (UTF-8): one alphabet, no case folding surprises, the same positions in every copy of a text.
"""

from __future__ import annotations

from collections.abc import Iterator

Row = tuple[str, tuple[bytes, ...], bytes]  # label, how a token starts, a pattern for what follows
WORD = rb"[0-9A-Za-z]"
SAFE = rb"[0-9A-Za-z_-]"  # the alphabet of url-safe base64
BASE64 = rb"[0-9A-Za-z+/]"
HEX = rb"[0-9a-fA-F]"
UUID = HEX + rb"{8}-" + HEX + rb"{4}-" + HEX + rb"{4}-" + HEX + rb"{4}-" + HEX + rb"{12}"

# Issuers that mark their tokens. A start needs a separator, a J or an A for the gate to hold on to (see `gate`).
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

LONG = 28  # letters and digits together: longer than any id of the host's
_FOLD = b" " * 48 + b"a" * 10 + b" " * 7 + b"a" * 26 + b" " * 6 + b"a" * 26 + b" " * 133  # digits, capitals, letters
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
