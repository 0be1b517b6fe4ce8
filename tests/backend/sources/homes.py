"""Homes as people of seven languages have them, what they ask, and what is said: sentences of native speakers."""

from __future__ import annotations

from typing import Any, Final


def state(
    entity_id: str,
    name: str,
    value: str,
    area: str | None = None,
    device_class: str | None = None,
    unit: str | None = None,
) -> dict[str, Any]:
    """Return a state as the contract has it."""
    return {
        "entity_id": entity_id,
        "name": name,
        "area": area,
        "domain": entity_id.partition(".")[0],
        "device_class": device_class,
        "state": value,
        "unit": unit,
    }


def home(names: str, areas: str) -> list[dict[str, Any]]:
    """Return the same home under the names of a language, each parted by "/"."""
    (
        light,
        counter,
        lamp,
        front,
        terrace,
        garage,
        window,
        bath,
        temperature,
        battery,
        oven,
        motion,
    ) = names.split("/")
    kitchen, hall, living, garden, bedroom, bathroom = areas.split("/")
    return [
        state("light.kitchen", light, "on", kitchen),
        state("light.counter", counter, "off", kitchen),
        state("light.hall", lamp, "on", hall),
        state("lock.front", front, "locked", hall),
        state("binary_sensor.front", front, "off", hall, "door"),
        state("binary_sensor.terrace", terrace, "unavailable", living, "door"),
        state("cover.garage", garage, "open", garden, "garage"),
        state("binary_sensor.bedroom", window, "on", bedroom, "window"),
        state("binary_sensor.bath", bath, "off", bathroom, "window"),
        state("sensor.kitchen", temperature, "21.5", kitchen, "temperature", "°C"),
        state("sensor.remote", battery, "12", None, "battery", "%"),
        state("switch.oven", oven, "off", kitchen),
        state("binary_sensor.motion", motion, "on", hall, "motion"),
        state("person.anna", "Anna", "home"),
        state("person.ben", "Ben", "not_home"),
    ]


HOMES: Final = {
    "de": home(
        "Küchenlicht/Arbeitsplatte/Flurlampe/Haustür/Terrassentür/Garagentor/Schlafzimmerfenster/Badfenster/Temperatur"
        "/Batterie Fernbedienung/Backofen/Bewegungsmelder Flur",
        "Küche/Flur/Wohnzimmer/Garage/Schlafzimmer/Bad",
    ),
    "fr": home(
        "Lumière cuisine/Plafonnier/Lampe du couloir/Porte d'entrée/Porte du jardin/Porte de garage/Fenêtre de la chambre"
        "/Fenêtre salle de bain/Température/Pile de la télécommande/Four/Détecteur couloir",
        "Cuisine/Couloir/Salon/Garage/Chambre/Salle de bain",
    ),
    "es": home(
        "Luz de la cocina/Foco/Lámpara del pasillo/Puerta principal/Puerta del jardín/Puerta del garaje"
        "/Ventana del dormitorio/Ventana del baño/Temperatura/Batería del mando/Horno/Sensor del pasillo",
        "Cocina/Pasillo/Salón/Garaje/Dormitorio/Baño",
    ),
    "it": home(
        "Luce cucina/Faretto/Lampada corridoio/Porta d'ingresso/Porta del giardino/Porta del garage/Finestra camera"
        "/Finestra bagno/Temperatura/Batteria telecomando/Forno/Sensore corridoio",
        "Cucina/Corridoio/Soggiorno/Garage/Camera/Bagno",
    ),
    "nl": home(
        "Keukenlamp/Aanrecht/Ganglamp/Voordeur/Tuindeur/Garagedeur/Slaapkamerraam/Badkamerraam/Temperatuur"
        "/Batterij afstandsbediening/Oven/Bewegingsmelder gang",
        "Keuken/Gang/Woonkamer/Garage/Slaapkamer/Badkamer",
    ),
    "pl": home(
        "Światło w kuchni/Kinkiet/Lampa w korytarzu/Drzwi wejściowe/Drzwi tarasowe/Brama garażowa/Okno w sypialni"
        "/Okno w łazience/Temperatura/Bateria pilota/Piekarnik/Czujnik ruchu korytarz",
        "Kuchnia/Korytarz/Salon/Garaż/Sypialnia/Łazienka",
    ),
}

SAID: Final = {
    "de": {
        "ist das küchenlicht an": "Ja, Küchenlicht ist an.",
        "ist das licht in der küche an": "Küchenlicht ist an. Arbeitsplatte ist aus.",
        "welche lichter sind an": "Küchenlicht und Flurlampe sind an.",
        "welche lampen sind im flur an": "Flurlampe ist an.",
        "wie viele lichter sind an": "2 von 3: Küchenlicht und Flurlampe sind an.",
        "ist ein fenster offen": "Ja, Schlafzimmerfenster ist offen.",
        "sind alle fenster zu": "Nein, Schlafzimmerfenster ist offen.",
        "sind alle türen zu": "Nein, Garagentor ist offen. Der Zustand ist nicht bekannt: Terrassentür.",
        "ist die haustür abgeschlossen": "Ja, Haustür ist verriegelt.",
        "ist die haustür zu": "Ja, Haustür ist geschlossen.",
        "ist die terrassentür geschlossen": "Der Zustand ist nicht bekannt: Terrassentür.",
        "habe ich den backofen angelassen": "Nein, Backofen ist aus.",
        "ist die sauna an": "Zu sauna finde ich nichts unter den Geräten, die ich sehen darf.",
        "ist die kellertür zu": "Zu kellertür finde ich nichts unter den Geräten, die ich sehen darf.",
        "wie warm ist es in der küche": "Temperatur Küche: 21,5 Grad Celsius.",
        "welche batterien sind leer": "Batterie Fernbedienung mit 12 Prozent ist fast leer.",
        "ist jemand zu hause": "Ja, Anna ist zu Hause.",
        "wo ist ben": "Ben ist nicht zu Hause.",
        "ist jemand im flur": "Ja, Bewegungsmelder Flur meldet Bewegung.",
    },
    "fr": {
        "est-ce que la lumière de la cuisine est allumée": "Lumière cuisine est allumée. Plafonnier Cuisine est éteint.",
        "quelles lumières sont allumées": "Lumière cuisine et Lampe du couloir sont allumées.",
        "y a-t-il une fenêtre ouverte": "Oui, Fenêtre de la chambre est ouverte.",
        "est-ce que toutes les portes sont fermées": (
            "Non, Porte de garage est ouverte. L'état n'est pas connu : Porte du jardin."
        ),
        "la porte d'entrée est-elle verrouillée": "Oui, Porte d'entrée est verrouillée.",
        "ai-je laissé le four allumé": "Non, Four est éteint.",
        "est-ce que le sauna est allumé": (
            "Je ne vois rien qui s'appelle sauna parmi les appareils que je peux voir."
        ),
        "il fait combien dans la cuisine": "Température Cuisine : 21,5 degrés Celsius.",
        "y a-t-il quelqu'un à la maison": "Oui, Anna est à la maison.",
        "où est ben": "Ben n'est pas à la maison.",
        "y a-t-il du mouvement dans le couloir": "Oui, Détecteur couloir signale un mouvement.",
    },
    "es": {
        "¿está encendida la luz de la cocina?": "Sí, Luz de la cocina está encendida.",
        "qué luces están encendidas": "Luz de la cocina y Lámpara del pasillo están encendidas.",
        "hay alguna ventana abierta": "Sí, Ventana del dormitorio está abierta.",
        "están cerradas todas las puertas": (
            "No, Puerta del garaje está abierta. No se conoce el estado: Puerta del jardín."
        ),
        "está cerrada con llave la puerta principal": "Sí, Puerta principal está bloqueada.",
        "me he dejado el horno encendido": "No, Horno está apagado.",
        "está encendida la sauna": (
            "No veo nada que se llame sauna entre los dispositivos que puedo ver."
        ),
        "qué temperatura hace en la cocina": "Temperatura Cocina: 21,5 grados centígrados.",
        "hay alguien en casa": "Sí, Anna está en casa.",
        "dónde está ben": "Ben no está en casa.",
        "hay movimiento en el pasillo": "Sí, Sensor del pasillo detecta movimiento.",
    },
    "it": {
        "la luce della cucina è accesa": "Luce cucina è accesa. Faretto Cucina è spento.",
        "quali luci sono accese": "Luce cucina e Lampada corridoio sono accese.",
        "c'è qualche finestra aperta": "Sì, Finestra camera è aperta.",
        "tutte le porte sono chiuse": (
            "No, Porta del garage è aperta. Lo stato non è noto: Porta del giardino."
        ),
        "la porta d'ingresso è chiusa a chiave": "Sì, Porta d'ingresso è chiusa a chiave.",
        "ho lasciato il forno acceso": "No, Forno è spento.",
        "la sauna è accesa": (
            "Non vedo niente che si chiami sauna tra i dispositivi che posso vedere."
        ),
        "quanti gradi ci sono in cucina": "Temperatura Cucina: 21,5 gradi Celsius.",
        "c'è qualcuno in casa": "Sì, Anna è a casa.",
        "dov'è ben": "Ben non è a casa.",
        "c'è movimento nel corridoio": "Sì, Sensore corridoio rileva movimento.",
    },
    "nl": {
        "staat de keukenlamp aan": "Ja, Keukenlamp is aan.",
        "welke lampen zijn aan": "Keukenlamp en Ganglamp zijn aan.",
        "is er een raam open": "Ja, Slaapkamerraam is open.",
        "zijn alle deuren dicht": "Nee, Garagedeur is open. De toestand is niet bekend: Tuindeur.",
        "is de voordeur op slot": "Ja, Voordeur is op slot.",
        "heb ik de oven aan gelaten": "Nee, Oven is uit.",
        "staat de sauna aan": "Over sauna vind ik niets bij de apparaten die ik mag zien.",
        "hoe warm is het in de keuken": "Temperatuur Keuken: 21,5 graden Celsius.",
        "is er iemand thuis": "Ja, Anna is thuis.",
        "waar is ben": "Ben is niet thuis.",
        "is er beweging in de gang": "Ja, Bewegingsmelder gang meldt beweging.",
    },
    "pl": {
        "czy światło w kuchni jest włączone": "Tak, Światło w kuchni jest włączone.",
        "które światła są włączone": "Światło w kuchni i Lampa w korytarzu są włączone.",
        "ile świateł jest włączonych": "2 z 3: Światło w kuchni i Lampa w korytarzu są włączone.",
        "czy jakieś okno jest otwarte": "Tak, Okno w sypialni jest otwarte.",
        "czy wszystkie drzwi są zamknięte": (
            "Nie, Brama garażowa jest otwarta. Stan nie jest znany: Drzwi tarasowe."
        ),
        "czy drzwi wejściowe są zamknięte na klucz": "Tak, Drzwi wejściowe są zamknięte na klucz.",
        "czy zostawiłem włączony piekarnik": "Nie, Piekarnik jest wyłączony.",
        "czy sauna jest włączona": (
            "Nie widzę niczego takiego jak sauna wśród urządzeń, które mogę widzieć."
        ),
        "jaka jest temperatura w kuchni": "Temperatura Kuchnia: 21,5 stopnia Celsjusza.",
        "czy ktoś jest w domu": "Tak, Anna jest w domu.",
        "gdzie jest ben": "Ben jest poza domem.",
        "czy jest ktoś w korytarzu": "Tak, Czujnik ruchu korytarz wykrywa ruch.",
    },
}
