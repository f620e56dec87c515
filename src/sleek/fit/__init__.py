"""The recipe of a fit: which rows settings are chosen on, how they are judged, which rows units are learnt on.

```
Plan (decided once, from sizes)  ←  policy (every constant that steers it)
look → scale → start → choose (search or race, then prune) → learn (grow) → close → judge
```

Trainers move units; everything about when, on what and for how long they do is decided here.
"""
