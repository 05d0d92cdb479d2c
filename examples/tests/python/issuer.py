"""An OAuth issuer of tokens for one test: prints its address, and serves until it is ended.

It has metadata (RFC 8414), keys, dynamic registration, `client_credentials`, and the authorization code flow with PKCE,
in which its only user, ada, consents to everything. The client `root` also gets the scope `admin`.
"""

import base64
import hashlib
import secrets
import socket
import time
from urllib.parse import urlencode

import jwt
import uvicorn
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm
from starlette.applications import Starlette
from starlette.responses import JSONResponse, RedirectResponse
from starlette.routing import Route

listener = socket.create_server(("127.0.0.1", 0))
URL = f"http://127.0.0.1:{listener.getsockname()[1]}"
KEY = ec.generate_private_key(ec.SECP256R1())
codes = {}


async def metadata(request):
    return JSONResponse({
        "issuer": URL,
        "authorization_endpoint": f"{URL}/authorize",
        "token_endpoint": f"{URL}/token",
        "registration_endpoint": f"{URL}/register",
        "jwks_uri": f"{URL}/keys",
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "client_credentials"],
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "none"],
        "code_challenge_methods_supported": ["S256"],
    })


async def keys(request):
    key = ECAlgorithm.to_jwk(KEY.public_key(), as_dict=True)
    return JSONResponse({"keys": [{**key, "kid": "1", "alg": "ES256", "use": "sig"}]})


async def register(request):
    asked = await request.json()
    return JSONResponse({**asked, "client_id": secrets.token_hex(8), "token_endpoint_auth_method": "none"}, 201)


async def authorize(request):
    asked = dict(request.query_params)
    assert asked["response_type"] == "code" and asked["code_challenge_method"] == "S256", asked
    code = secrets.token_hex(8)
    codes[code] = asked
    back = {"code": code, "state": asked["state"], "iss": URL} if "state" in asked else {"code": code}
    return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(back)}", 302)


async def token(request):
    form = dict(await request.form())
    match form["grant_type"]:
        case "client_credentials":
            pair = base64.b64decode(request.headers["authorization"].removeprefix("Basic ")).decode()
            client, secret = pair.split(":")
            if secret != f"secret-of-{client}":
                return JSONResponse({"error": "invalid_client"}, 401)
            subject, asked = client, form
        case "authorization_code":
            asked = codes.pop(form["code"])
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            assert base64.urlsafe_b64encode(digest).decode().rstrip("=") == asked["code_challenge"]
            assert form["redirect_uri"] == asked["redirect_uri"] and form["resource"] == asked["resource"]
            subject, client = "ada", asked["client_id"]
        case other:
            return JSONResponse({"error": "unsupported_grant_type", "error_description": other}, 400)
    scope = asked.get("scope", "") + (" admin" if subject == "root" else "")
    # A client that does not say where the token is for gets one that is for nowhere.
    claims = {"iss": URL, "sub": subject, "client_id": client, "aud": asked.get("resource", "nowhere"), "scope": scope}
    claims["exp"] = int(time.time()) + 600
    signed = jwt.encode(claims, KEY, algorithm="ES256", headers={"kid": "1", "typ": "at+jwt"})
    return JSONResponse({"access_token": signed, "token_type": "Bearer", "expires_in": 600, "scope": scope})


app = Starlette(routes=[
    Route("/.well-known/oauth-authorization-server", metadata),
    Route("/keys", keys),
    Route("/register", register, methods=["POST"]),
    Route("/authorize", authorize),
    Route("/token", token, methods=["POST"]),
])
print(URL, flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
