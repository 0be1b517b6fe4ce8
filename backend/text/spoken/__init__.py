"""What a voice says for what is written, one room a kind: units, money, fractions, signs, short forms.

Each room has one function from (text, words of the language) to text; `answer/speech.py` puts them in order. Digits
stay digits, engines read them.
"""
