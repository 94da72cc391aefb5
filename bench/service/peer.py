"""The same service as one would write it with FastAPI, scikit-learn's partial_fit and SQLite: propose, feedback, and every
event on disk before it is answered. Requests that wait share a transaction (its own batching).

    python3 bench/service/peer.py DIR PORT"""
import asyncio
import json
import pathlib
import sqlite3
import sys
import uuid

import numpy
import uvicorn
from fastapi import FastAPI, HTTPException, Request
from sklearn.linear_model import SGDClassifier

CLASSES = [chr(ord("A") + k) for k in range(26)]
app, queue, waiting = FastAPI(), [], {}
learner = SGDClassifier(loss="log_loss")
learner.partial_fit(numpy.zeros((1, 16)), ["A"], classes=CLASSES)
database = sqlite3.connect(pathlib.Path(sys.argv[1], "peer.db"), isolation_level=None)
database.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE IF NOT EXISTS journal("
                       "sequence INTEGER PRIMARY KEY, kind TEXT, id TEXT, features TEXT, class TEXT, answer INTEGER)")


async def on_disk(*row):
    """Returns when the row is: all rows that came meanwhile go with it."""
    done = asyncio.get_running_loop().create_future()
    queue.append((row, done))
    if len(queue) == 1:
        asyncio.get_running_loop().call_soon(commit)
    await done


def commit():
    rows = queue[:]
    queue.clear()
    database.execute("BEGIN")
    database.executemany("INSERT INTO journal(kind, id, features, class, answer) VALUES(?,?,?,?,?)", [r for r, _ in rows])
    database.execute("COMMIT")
    for _, done in rows:
        done.set_result(None)


@app.post("/v1/models/m/propose")
async def propose(request: Request):
    features = (await request.json())["features"]
    scores = learner.decision_function([features])[0]
    event, label = uuid.uuid4().hex, CLASSES[int(scores.argmax())]
    waiting[event] = (features, label)
    await on_disk("proposal", event, json.dumps(features), label, None)
    return {"id": event, "class": label, "scores": dict(zip(CLASSES, scores.tolist()))}


@app.post("/v1/models/m/feedback")
async def feedback(request: Request):
    body = await request.json()
    if body["id"] not in waiting:
        raise HTTPException(404)
    features, label = waiting.pop(body["id"])
    if body["right"]:
        learner.partial_fit([features], [label])
    await on_disk("feedback", body["id"], None, label, body["right"])
    return {"id": body["id"], "learned": True}


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]), log_level="error")
