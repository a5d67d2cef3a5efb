"""One PostgreSQL for all tests here; each has its own database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.house.page_house import PageHouse
from tests.house.postgres import Cluster


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    with Cluster() as running:
        yield running


@pytest.fixture(scope="session")
def cluster_with_disk() -> Iterator[Cluster]:
    """Another one, whose disk can be full or slow."""
    with Cluster(with_disk=True) as running:
        yield running


@pytest.fixture
def database(cluster: Cluster) -> str:
    return cluster.database()


@pytest.fixture
def house(cluster: Cluster, database: str) -> Iterator[PageHouse]:
    made = PageHouse(cluster, database)
    yield made
    made.close()
