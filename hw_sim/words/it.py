"""What the demo shows, in Italian."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, str] = {
    "waiting for the table": "in attesa del tavolo",
    "the wheel plays": "la roulette gioca",
    "the wheel plays {name}: {about}": "la roulette gioca {name}: {about}",
    "state": "stato",
    "bets": "puntate",
    "waiting for": "in attesa",
    "last numbers": "ultimi numeri",
    "last notice": "ultimo avviso",
    "coup": "colpo",
    "verdict": "verdetto",
    "nothing yet": "ancora nulla",
    "none": "nessuno",
    "none yet": "ancora nessuno",
    "{seq}, nothing missing": "{seq}, non manca nulla",
    "{seq}, {gaps} missing": "{seq}, {gaps} mancanti",
    "{laps} laps": "{laps} giri",
    "rotor {rpm} rpm": "cilindro {rpm} giri/min",
    "RESULT": "RISULTATO",
    "VOID": "NULLO",
    "table": "tavolo",
    "numbers": "numeri",
    "notice": "avviso",
    "reply": "risposta",
    "{state}, bets {bets}, waiting for: {steps}": "{state}, puntate {bets}, in attesa: {steps}",
    "{name} by {person}: done. {why}": "{name} da {person}: fatto. {why}",
    "{name} by {person}: refused. {why}": "{name} da {person}: rifiutato. {why}",
    "{count} verdicts: {results} results, {voids} voids": (
        "{count} verdetti: {results} risultati, {voids} colpi nulli"
    ),
    "seq {first} to {last}": "seq da {first} a {last}",
    "no message": "nessun messaggio",
    "{messages}, nothing missing; the seed was --seed {seed}": (
        "{messages}, non manca nulla; il seme era --seed {seed}"
    ),
    "{messages}, {gaps} missing; the seed was --seed {seed}": (
        "{messages}, {gaps} mancanti; il seme era --seed {seed}"
    ),
    "not as it was played: {words}": "non come è stato giocato: {words}",
    "each as it was played": "ciascuno come è stato giocato",
    "kept: {journal} (wheeld journal verify reads it; the next demo goes on with it)": (
        "conservato: {journal} (wheeld journal verify lo legge; la prossima demo lo continua)"
    ),
}
"""By the English text of the code."""

CODES: Mapping[str, str] = {
    "state closed": "tavolo chiuso",
    "state faites_vos_jeux": "faites vos jeux",
    "state ball_running": "la pallina gira",
    "state rien_ne_va_plus": "rien ne va plus",
    "state ball_on_obstacle": "la pallina è ferma su un ostacolo",
    "state awaiting_chef": "il numero attende il capo tavolo",
    "state operations": "operazioni",
    "state rien_va": "colpo nullo",
    "state suspended": "gioco sospeso",
    "bets open": "aperte",
    "bets closed": "chiuse",
    "bets locked": "bloccate",
}
"""By the member of the message `table` and its code."""

ABOUT: Mapping[str, str] = {
    "ball_lifted_at_rest": (
        "La pallina è sollevata prima che il numero sia provato: il capo tavolo lo conferma, o dice rien va."
    ),
    "beam_fails_at_rest": (
        "Una fotocellula fallisce l'autotest quando la pallina è ferma e il numero non è ancora provato: vale."
    ),
    "bouler_change": "Un altro bouleur subentra tra due colpi.",
    "breakdown_idle": "Il cavo si guasta tra due colpi: il tavolo è sospeso, ripreso, e continua.",
    "breakdown_link": "Il cavo tra scheda e computer si guasta mentre la pallina gira.",
    "breakdown_sensor": (
        "Una fotocellula, un lettore, l'encoder o il sensore dei corpi estranei fallisce l'autotest durante la corsa."
    ),
    "chef_void": "Il capo tavolo dichiara nullo il colpo in corso.",
    "close_running": "La direzione chiude il tavolo mentre la pallina gira; viene riaperto.",
    "confirmed_too_early": (
        "Il capo tavolo conferma numeri sbagliati durante la corsa e prima della prova: conta quello provato."
    ),
    "early_launch": "Un colpo valido, poi un lancio prima della fine delle operazioni.",
    "first_coup_void": (
        "Il primo colpo del tavolo è nullo: senza numero precedente basta la parola del capo; poi un colpo valido."
    ),
    "foreign_object": "Una moneta cade nel cilindro mentre la pallina gira.",
    "foreign_object_after_drop": (
        "Una moneta cade nel cilindro dopo che la pallina ha lasciato la pista, prima che sia in una casella."
    ),
    "la_derniere": (
        "L'ultimo colpo è annunciato; uno nullo non lo consuma, il valido seguente chiude il tavolo; poi riapre."
    ),
    "lap_margin": "Un lancio di due-quattro giri, in cui i passaggi provano forse meno del vero.",
    "launch_before_tout_va": "Un colpo nullo per parola del capo, poi un lancio prima di tout va: ancora nullo.",
    "launch_while_closed": (
        "La pallina di un tavolo chiuso è lanciata: un avviso, nessun colpo; poi il tavolo apre per un colpo valido."
    ),
    "number_after_void": "La pallina di un colpo nullo cade in una casella: è una prova, non un risultato.",
    "object_after": "Una fiche cade nel cilindro dopo la prova del numero, e si toglie: il numero vale.",
    "object_before_launch": "Una fiche cade nel cilindro tra due colpi e si toglie prima del lancio: un colpo valido.",
    "object_before_the_proof": (
        "Una moneta cade dopo che i lettori hanno visto la pallina ferma, prima della prova: il numero è uscito."
    ),
    "obstacle_falls": "La pallina poggia su un ostacolo, cade mentre il cilindro gira ancora, e il numero vale.",
    "obstacle_rotor_stops": "La pallina poggia su un ostacolo e il cilindro si ferma prima che cada.",
    "operations_done_before_proof": (
        "Operazioni finite è premuto quando la pallina è ferma senza prova: conta dalla prova in poi."
    ),
    "rien_ne_va_plus_by_mistake": (
        "Rien ne va plus è detto per errore prima del lancio, faites vos jeux lo annulla: un colpo valido."
    ),
    "rien_va_at_rest": (
        "Il capo dice rien va quando la pallina è ferma e il numero non è ancora provato: troppo tardi, vale."
    ),
    "rotor_braked_in_pocket": (
        "Una mano frena il cilindro quando la pallina è nella casella, prima della prova del numero: vale."
    ),
    "rotor_braked_running": (
        "Una mano sfiora il cilindro durante la corsa: rallenta e continua a girare, e il colpo vale."
    ),
    "rotor_idle_stop": "Il bouleur ferma per un po' il cilindro tra due colpi; poi un colpo valido.",
    "rotor_pushed_running": "Una mano accelera il cilindro durante la corsa, senza invertirlo: il colpo vale.",
    "rotor_reverses_running": "Una mano inverte il cilindro durante la corsa: si è fermato, anche solo per un istante.",
    "rotor_stopped_after_number": "Una mano ferma il cilindro appena il numero è provato: il numero vale.",
    "rotor_stopped_at_launch": "La pallina è lanciata mentre il cilindro è fermo.",
    "rotor_stopped_at_rest": (
        "Una mano ferma il cilindro quando la pallina è ferma, prima della prova: forse il capo deve confermare."
    ),
    "rotor_stops_running": "Una mano ferma il cilindro mentre la pallina gira.",
    "same_direction": "La pallina è lanciata nel senso del cilindro.",
    "stray_idle": (
        "Una fotocellula dà un impulso mentre la pallina è nella casella: nessun lancio, poi un colpo valido."
    ),
    "stray_pulse": "Una fotocellula dà un impulso senza pallina durante la corsa: il colpo vale.",
    "suspend_at_rest": (
        "La direzione sospende il gioco quando la pallina è ferma e il numero non è ancora provato: vale."
    ),
    "suspend_idle": "La direzione sospende il gioco tra due colpi, e segue un colpo valido.",
    "suspend_running": "La direzione sospende il gioco mentre la pallina gira.",
    "too_few_laps": "Troppo poca spinta: la pallina lascia la pista dopo 0,6-2,9 giri.",
    "too_weak_one_pass": "La pallina incrocia solo una o due fotocellule, poi si trova in un'altra casella.",
    "tout_va_at_once": (
        "Dopo un colpo nullo il capo dice tout va prima che un lettore veda la pallina: vale quando uno l'ha vista."
    ),
    "valid": "Un colpo ordinario: lancio, rien ne va plus durante la corsa, un numero.",
    "valid_few_laps": "Un lancio debole che fa comunque i suoi tre giri, di poco.",
    "valid_no_rnvp": (
        "Nessuno dice rien ne va plus: il colpo vale, le puntate chiudono quando la pallina lascia la pista."
    ),
    "valid_rnvp_before_launch": "Rien ne va plus è detto prima del lancio, e forse ancora una volta durante la corsa.",
    "valid_slow_rotor": "Il cilindro fa da quattro a sette giri al minuto, e il colpo vale.",
    "wrong_pocket_after_void": (
        "Dopo un colpo nullo la pallina è messa in una casella sbagliata: tout va è rifiutato fino a quella giusta."
    ),
    "wrong_presses": (
        "Si preme ciò che non ha senso, a ogni passo di un colpo valido: tutto è rifiutato e nulla cambia."
    ),
    "wrong_presses_after_void": "Si preme ciò che non ha senso dopo un colpo nullo: tutto è rifiutato e nulla cambia.",
}
"""By its name, what a scenario is about."""
