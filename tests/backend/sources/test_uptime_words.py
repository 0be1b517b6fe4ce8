"""What is said of services, in seven languages: of those that a question names, of all, and of what nobody monitors."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, strategies as st
import pytest

from backend.languages import SPOKEN, own_or_default
from backend.sources.uptime_words import Service, told as sentences
from backend.text.words import fold
from backend.types import Found, Nothing

from .conftest import Asking
from .test_uptime import Kuma, opened, told


@pytest.fixture
def kuma() -> Kuma:
    return Kuma()


QUESTIONS = {
    # Something that nobody monitors is never passed over.
    "is jellyfin up": ["Jellyfin is not monitored."],
    "Is the Café server down?": ["Café is not monitored."],
    "is the website up": ["Website is not monitored."],
    "is home assistant or plex running": ["Home Assistant is up.", "Plex is not monitored."],
    "are all jellyfin services up": [
        "Jellyfin is not monitored.",
        "NAS is down.",
        "4 of 5 services are up.",
    ],
    "is nas 2 up": ["NAS is down.", "Nas 2 is not monitored."],
    "is 10.0.0.5 up": ["10 0 0 5 is not monitored."],
    "is 10.0.0.5 up and the router too": ["Router is up.", "10 0 0 5 is not monitored."],
    "is the cluster up": ["Cluster is not monitored."],
    "jellyfin": ["Jellyfin is not monitored.", "NAS is down.", "4 of 5 services are up."],
    # Nothing in particular is named.
    "are my services up": ["NAS is down.", "4 of 5 services are up."],
    "is everything running right now": ["NAS is down.", "4 of 5 services are up."],
    "is anything down": ["NAS is down.", "4 of 5 services are up."],
    "are all 5 servers online": ["NAS is down.", "4 of 5 services are up."],
    "are any of my websites at home down": ["NAS is down.", "4 of 5 services are up."],
    "what's the status": ["NAS is down.", "4 of 5 services are up."],
    # The whole name, however its words are joined and ended, or what nothing but a part of it fits.
    "is home assistant up": ["Home Assistant is up."],
    "is homeassistant up": ["Home Assistant is up."],
    "is home-assistant's status ok": ["Home Assistant is up."],
    "are the routers up": ["Router is up."],
    "are the two routers up": ["Router is up."],
    "is next cloud reachable": ["Nextcloud (LAN) is up."],
    "is the router server and the NAS up": ["NAS is down.", "Router is up."],
    "is assistant up": ["Home Assistant is up."],
    # One that is named with all of them doesn't hide the others.
    "is everything up, also the router": [
        "Router is up.",
        "NAS is down.",
        "4 of 5 services are up.",
    ],
    # As it is asked.
    "how many services are down": ["One of 5 services is down.", "NAS is down."],
    "how many services aren't running": ["One of 5 services is down.", "NAS is down."],
    "how many are up": ["4 of 5 services are up.", "NAS is down."],
    "which services are down": ["NAS is down.", "4 of 5 services are up."],
    "which services are up": [
        "Router, Home Assistant, Home, and Nextcloud (LAN) are up.",
        "NAS is down.",
    ],
}


@pytest.mark.parametrize("question", QUESTIONS)
async def test_an_answer_is_about_what_was_asked(question: str, kuma: Kuma, asking: Asking) -> None:
    kuma.states = {"Router": 1, "NAS": 0, "Home Assistant": 1, "Home": 1, "Nextcloud (LAN)": 1}
    async with opened(kuma) as source:
        assert await told(source, asking, question) == QUESTIONS[question]


@pytest.mark.parametrize("name", ["Up", "Down", "All", "All services", "Server", "Is it up?", "🟢"])
async def test_a_monitor_named_like_a_general_word_hides_no_outage(
    name: str, kuma: Kuma, asking: Asking
) -> None:
    kuma.states = {name: 1, "NAS": 0}
    async with opened(kuma) as source:
        for question in ("are all services up", "is any server down", "is it up"):
            assert await told(source, asking, question) == [
                "NAS is down.",
                "One of 2 services is up.",
            ]
        kuma.states = {name: 0, "NAS": 1}
        assert await told(source, asking, "are all services up") == [
            f"{name} is down.",
            "One of 2 services is up.",
        ]


async def test_what_is_not_named_of_many_is_counted(kuma: Kuma, asking: Asking) -> None:
    kuma.states = {f"Camera {place}": 0 for place in "ABCDEFGHIJ"}
    async with opened(kuma) as source:
        down = "Camera A, Camera B, Camera C, Camera D, Camera E, Camera F, and 4 more are down."
        assert await told(source, asking, "is anything down") == [
            down,
            "None of the 10 services is up.",
        ]
        assert await told(source, asking, "are the cameras up") == [down]
        kuma.states |= {"Server": 0}
        assert (await told(source, asking, "is the server down"))[0].startswith("Server, Camera A,")


async def test_one_service_is_told_by_its_name_and_two_are_both(kuma: Kuma, asking: Asking) -> None:
    kuma.states = {"NAS": 1}
    async with opened(kuma) as source:
        assert await told(source, asking, "are all services up") == ["NAS is up."]
        assert await told(source, asking, "are plex and everything up") == [
            "Plex is not monitored.",
            "NAS is up.",
        ]
        kuma.states = {"NAS": 1, "Router": 1}
        assert await told(source, asking, "are all services up") == ["Both services are up."]


async def test_none_is_only_said_to_be_down_of_what_is_known(kuma: Kuma, asking: Asking) -> None:
    kuma.states["NAS"] = 3
    async with opened(kuma) as source:
        assert await told(source, asking, "how many services are down") == [
            "None of the 3 services is down.",
            "NAS is under maintenance.",
        ]
        kuma.states["NAS"] = None
        assert await told(source, asking, "how many services are down") == [
            "The state of NAS is unknown."
        ]


async def test_a_question_about_something_else_has_nothing_but_what_others_are_asked_too(
    kuma: Kuma, asking: Asking
) -> None:
    async with opened(kuma) as source:
        text = "how do I get my grandmother's old recipe for plum cake online"
        step, question = asking(text)
        assert await source.ask(step, question) == Nothing()
        for text in ("morning briefing", "the weather today"):
            step, question = asking(text)
            outcome = await source.ask(step, replace(question, source="fusion"))
            assert isinstance(outcome, Found)
            assert [passage.text for passage in outcome.passages] == ["All 3 services are up."]


SERVICES = st.lists(
    st.builds(
        Service,
        st.uuids().map(str),
        st.text(max_size=20) | st.sampled_from(["Up", "NAS", "All services", "Home Assistant"]),
        st.sampled_from(["up", "down", "pending", "maintenance", "unknown"]),
    ),
    max_size=10,
)


@given(services=SERVICES, query=st.text(max_size=60), language=st.sampled_from([*SPOKEN, "sv"]))
def test_any_question_is_answered_and_never_all_up_while_one_is_not(
    services: list[Service], query: str, language: str
) -> None:
    said = sentences(services, query, language)
    assert all(sentence.strip() for sentence in said)
    counted = own_or_default(language, "uptime")["counted"]["all_up"]
    if any(service.state != "up" for service in services):
        total = len(services)
        assert not {form.format(total=total) for form in counted.values()} & set(said)


LANGUAGES = {
    # All are up, one is down, one that nobody monitors, a name that is joined and ended, how many are down.
    "en": (
        [
            "are my services up",
            "is everything running",
            "is anything down",
            "are there any outages",
            "which ones are down",
            "did anything go down last night",
            "are our docker containers running",
            "is everything okay with the servers at home",
        ],
        ["is jellyfin up", "Jellyfin is not monitored."],
        ["are the homeassistants running", "Home Assistant is up."],
        ["how many services are down", "One of 3 services is down. NAS is down."],
        "All 3 services are up.",
    ),
    "de": (
        [
            "laufen meine dienste",
            "läuft alles",
            "ist irgendwas ausgefallen",
            "sind alle server da",
            "sind irgendwelche dienste gestört",
            "ist einer der dienste ausgefallen",
            "was ist gerade nicht erreichbar",
            "gibt es störungen",
        ],
        ["läuft der jellyfin-server", "Jellyfin wird nicht überwacht."],
        ["ist der homeassistantserver erreichbar", "Home Assistant ist erreichbar."],
        [
            "wie viele dienste laufen nicht",
            "Einer von 3 Diensten ist nicht erreichbar. NAS ist nicht erreichbar.",
        ],
        "Alle 3 Dienste sind erreichbar.",
    ),
    "fr": (
        [
            "est-ce que mes services marchent",
            "tout fonctionne",
            "y a-t-il quelque chose en panne",
            "quels services sont hors ligne",
            "nos serveurs sont-ils en ligne",
            "est-ce qu'un service est en panne",
        ],
        ["est-ce que jellyfin est en ligne", "Aucun service surveillé ne s'appelle jellyfin."],
        ["homeassistant fonctionne-t-il", "Home Assistant est en ligne."],
        [
            "combien de services sont en panne",
            "Un service sur 3 est hors ligne. NAS est hors ligne.",
        ],
        "Les 3 services sont tous en ligne.",
    ),
    "es": (
        [
            "funcionan mis servicios",
            "funciona todo",
            "hay algo caído",
            "está todo bien",
            "hay alguna avería en casa",
            "están funcionando todos nuestros servidores",
            "qué servicios están caídos",
        ],
        ["funciona jellyfin", "Ningún servicio vigilado se llama jellyfin."],
        ["está activo el homeassistant", "Home Assistant funciona."],
        ["cuántos servicios no funcionan", "Uno de 3 servicios no funciona. NAS no funciona."],
        "Los 3 servicios funcionan.",
    ),
    "it": (
        [
            "funzionano i miei servizi",
            "funziona tutto",
            "c'è qualcosa che non va",
            "stanno funzionando tutti i nostri server",
            "c'è qualche servizio fermo",
            "quali servizi sono offline",
        ],
        ["jellyfin funziona", "Nessun servizio monitorato si chiama jellyfin."],
        ["l'homeassistant è raggiungibile", "Home Assistant funziona."],
        ["quanti servizi non funzionano", "Non funziona un servizio su 3. NAS non funziona."],
        "Tutti i 3 servizi funzionano.",
    ),
    "nl": (
        [
            "zijn mijn diensten bereikbaar",
            "werkt alles",
            "ligt er iets plat",
            "is er een storing",
            "welke diensten werken niet",
            "doet alles het",
        ],
        ["draait jellyfin", "Jellyfin wordt niet bewaakt."],
        ["doet de homeassistant het", "Home Assistant is bereikbaar."],
        [
            "hoeveel diensten zijn er niet bereikbaar",
            "Een van de 3 diensten is niet bereikbaar. NAS is niet bereikbaar.",
        ],
        "Alle 3 diensten zijn bereikbaar.",
    ),
    "pl": (
        [
            "czy moje usługi działają",
            "czy wszystko działa",
            "czy coś nie działa",
            "czy są jakieś awarie",
            "które usługi nie działają",
            "czy nasze serwery działają",
        ],
        ["czy jellyfin działa", "Usługa jellyfin nie jest monitorowana."],
        ["jaki jest stan homeassistanta", "Home Assistant działa."],
        ["ile usług nie działa", "Nie działa jedna z 3 usług. NAS nie działa."],
        "Wszystkie 3 usługi działają.",
    ),
}


@pytest.mark.parametrize("language", SPOKEN)
async def test_every_language_knows_its_words_for_all_and_its_names(
    language: str, kuma: Kuma, asking: Asking
) -> None:
    for_all, unwatched, joined, how_many, all_up = LANGUAGES[language]
    async with opened(kuma) as source:
        for question in for_all:
            assert await told(source, asking, question, language) == [all_up], question
        for question, said in (unwatched, joined):
            assert await told(source, asking, question, language) == [said]
        kuma.states["NAS"] = 0
        for question in for_all:
            assert "NAS" in (await told(source, asking, question, language))[0], question
        assert " ".join(await told(source, asking, how_many[0], language)) == how_many[1]


@pytest.mark.parametrize("language", SPOKEN)
def test_every_language_has_a_sentence_for_every_state_and_number(language: str) -> None:
    english = own_or_default("en", "uptime")
    words = own_or_default(language, "uptime")
    assert set(words) == set(english)
    for table in ("named", "counted", "states", "asked"):
        assert set(words[table]) == set(english[table])
    for name, text in words["asked"].items():
        for row in [text] if isinstance(text, str) else text:
            assert fold(row) == " ".join(row.split()), name
    for total in (1, 2, 3, 5, 10, 22):
        for state in ("up", "down", "pending", "maintenance", "unknown"):
            services = [
                Service(str(number), f"Box {number}", state if number % 2 == 0 else "up")
                for number in range(total)
            ]
            for query in ("", "box", words["asked"]["how_many"][0] + " offline"):
                text = " ".join(sentences(services, query, language))
                assert "{" not in text
                assert "Box" in text or state == "up"


def test_a_name_that_is_a_common_word_elsewhere_is_a_name() -> None:
    services = [Service("1", "Router", "up"), Service("2", "Plex", "up")]
    assert sentences(services, "czy nas działa", "pl") == ["Usługa nas nie jest monitorowana."]
    services.append(Service("3", "NAS", "down"))
    assert sentences(services, "czy nas działa", "pl") == ["NAS nie działa."]


def test_numbers_are_said_as_a_pole_says_them() -> None:
    for total, said in (
        (2, "Obie usługi działają."),
        (4, "Wszystkie 4 usługi działają."),
        (5, "Wszystkie 5 usług działa."),
        (22, "Wszystkie 22 usługi działają."),
    ):
        services = [Service(str(number), "NAS", "up") for number in range(total)]
        assert sentences(services, "czy wszystko działa", "pl") == [said]
