"""Loaded by the Python of Patroni if it runs under libfaketime. That library (0.9.10) computes a wrong span for
clock_nanosleep, which time.sleep calls since Python 3.11, and Patroni would end with EINVAL. select does not have this
fault."""
import select
import time


def sleep(seconds):
    select.select([], [], [], seconds)


time.sleep = sleep
