"""The recipe of a fit: on which rows settings are chosen, how they are judged, where units are learnt.

```
Plan (decided once, from sizes)  ←  policy (every constant that steers it)
look → scale → start → choose (search or race, then prune) → learn (grow) → close → judge
```

Trainers move units; everything about when, on what and for how long they do is decided here.
"""
