"""Which source an utterance names, in seven languages: lower-case speech, in words that people use."""

from __future__ import annotations

import pytest

from backend.planning.rules import plan_rules

NAMED = {
    "en": {
        "forecast": [
            "what's the weather like tomorrow",
            "will it rain in lyon on friday",
            "do i need an umbrella today",
            "how cold is it outside",
            "is it going to snow this weekend",
            "what is the temperature in oslo",
            "should i wear a jacket tonight",
        ],
        "news": [
            "what's in the news",
            "read me the headlines",
            "any news about the space program",
            "what is going on in the world",
            "what's new in technology",
        ],
        "uptime": [
            "are all my services up",
            "is the nas online",
            "is any server down",
            "is plex running",
            "what's the status of my services",
        ],
        "changes": [
            "what changed since this morning",
            "has anything changed at home",
            "what happened while i was at work",
        ],
        "ha": ["how warm is it in the bedroom", "is the front door locked", "which lights are on"],
        "web": ["search the web for cat breeds", "google how to tie a bow tie"],
    },
    "de": {
        "forecast": [
            "wie wird das wetter morgen",
            "regnet es heute abend",
            "brauche ich einen regenschirm",
            "wie kalt wird es morgen in berlin",
            "schneit es am wochenende",
        ],
        "news": ["was gibt es neues in der welt", "lies die schlagzeilen vor", "nachrichten bitte"],
        "uptime": [
            "sind alle dienste erreichbar",
            "ist der server online",
            "läuft das nas",
            "ist das internet gestört",
        ],
        "changes": ["was hat sich seit gestern geändert", "ist etwas passiert im haus"],
        "ha": ["wie warm ist es im wohnzimmer", "ist die haustür abgeschlossen"],
    },
    "fr": {
        "forecast": ["quel temps fait-il à lyon", "est-ce qu'il va pleuvoir", "donne-moi la météo"],
        "news": ["quelles sont les actualités", "lis-moi les gros titres"],
        "uptime": ["est-ce que tous les services sont en ligne", "le serveur est-il en panne"],
        "changes": ["qu'est-ce qui a changé depuis ce matin"],
        "ha": ["il fait combien dans le salon"],
    },
    "es": {
        "forecast": ["qué tiempo hará mañana", "va a llover el viernes", "necesito paraguas"],
        "news": ["cuáles son las noticias", "léeme los titulares"],
        "uptime": ["están todos los servicios en línea", "el servidor está caído"],
        "changes": ["qué ha cambiado desde ayer"],
        "ha": ["qué temperatura hace en el salón"],
    },
    "it": {
        "forecast": ["che tempo farà domani", "pioverà stasera", "mi serve l'ombrello"],
        "news": ["quali sono le notizie", "leggimi i titoli"],
        "uptime": ["i servizi sono tutti online", "il server funziona"],
        "changes": ["cosa è cambiato da stamattina"],
        "ha": ["quanto fa caldo in soggiorno"],
    },
    "nl": {
        "forecast": [
            "wat voor weer wordt het morgen",
            "gaat het regenen",
            "heb ik een paraplu nodig",
        ],
        "news": ["wat is het nieuws", "lees de krantenkoppen voor"],
        "uptime": ["zijn alle diensten bereikbaar", "werkt het internet", "is de server offline"],
        "changes": ["wat is er veranderd sinds gisteren"],
        "ha": ["hoe warm is het in de slaapkamer"],
    },
    "pl": {
        "forecast": ["jaka będzie jutro pogoda", "czy będzie padać", "czy potrzebuję parasola"],
        "news": ["jakie są wiadomości", "przeczytaj nagłówki"],
        "uptime": ["czy wszystkie usługi działają", "czy serwer jest online"],
        "changes": ["co się zmieniło od rana"],
        "ha": ["ile stopni jest w salonie"],
    },
}
OTHERS = {
    "en": [
        "who was the first person on the moon",
        "why is the sky blue",
        "how do rainbows form",
        "what is a change of state in physics",
        "who invented the umbrella company in the film",
        "what causes thunder",
        "how many services did the roman army have",
        "who is the president of france",
    ],
    "de": [
        "wer hat das telefon erfunden",
        "warum ist der himmel blau",
        "wie hoch ist die zugspitze",
        "wie entsteht ein regenbogen",
    ],
    "fr": ["qui a peint la joconde", "pourquoi le ciel est bleu", "combien de temps dure un vol"],
    "es": ["quién pintó las meninas", "cuánto tiempo vive un gato", "por qué el cielo es azul"],
    "it": ["chi ha dipinto la gioconda", "quanto tempo vive un gatto"],
    "nl": ["wie schilderde de nachtwacht", "waarom is de lucht blauw"],
    "pl": ["kto namalował damę z gronostajem", "dlaczego niebo jest niebieskie"],
}


@pytest.mark.parametrize(
    ("language", "source", "utterance"),
    [
        (language, source, utterance)
        for language, sources in NAMED.items()
        for source, utterances in sources.items()
        for utterance in utterances
    ],
)
def test_what_is_asked_for_names_its_source(language: str, source: str, utterance: str) -> None:
    plan = plan_rules(utterance, language)
    assert [step.source for step in plan.steps] == [source]
    assert not plan.handback


@pytest.mark.parametrize(
    ("language", "utterance"),
    [(language, utterance) for language, rows in OTHERS.items() for utterance in rows],
)
def test_knowledge_is_none_of_the_house_the_weather_or_the_news(
    language: str, utterance: str
) -> None:
    assert plan_rules(utterance, language).by == "default"
