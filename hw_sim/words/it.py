"""What the demo and the bench page show, in Italian."""

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
    "RULING": "DECISIONE",
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
    "bench page": "pagina del banco",
    "result {number}, {laps} laps": "risultato {number}, {laps} giri",
    "void {cause}": "nullo {cause}",
    "the ball lies there": "la pallina sta lì",
    "the wheel is in order": "la roulette è in ordine",
    "nobody can say where the ball is": "nessuno sa dire dov'è la pallina",
    "The bench": "Il banco di prova",
    "Skip to the buttons": "Vai ai pulsanti",
    "The bench: a simulated wheel and the real daemon": "Il banco di prova: una roulette simulata e il vero servizio",
    "Pages of this wheel": "Pagine di questa roulette",
    "Live page": "Pagina dal vivo",
    "Players’ display": "Tabellone dei giocatori",
    "The bench has ended. What stands here is old.": "Il banco di prova è terminato. Ciò che si legge qui è vecchio.",
    "The wheel, as its daemon sees it": "La roulette, come la vede il suo servizio",
    "The live page of the wheel": "La pagina dal vivo della roulette",
    "What happens at the wheel": "Che cosa accade alla roulette",
    "By hand": "A mano",
    "Play by itself": "Gioco automatico",
    "What the daemon says": "Che cosa dice il servizio",
    "What is true": "Che cosa è vero",
    "Nothing was done: the bench does not answer.": "Non è stato fatto nulla: il banco di prova non risponde.",
    "The ball": "La pallina",
    "The people": "Le persone",
    "The wheel and its sensors": "La roulette e i suoi sensori",
    "Launch": "Lanciare",
    "A good push, against the rotor.": "Una buona spinta, contro il senso del cilindro.",
    "Launch with the rotor": "Lanciare nel senso del cilindro",
    "The ball runs in the rotor's own direction (N1).": "La pallina gira nel senso del cilindro (N1).",
    "Launch weakly": "Lanciare piano",
    "Too little push for three laps (N3).": "Troppo poca spinta per tre giri (N3).",
    "Take the ball": "Prendere la pallina",
    "A hand takes it, even off the track.": "Una mano la prende, anche dalla pista.",
    "Put the ball back": "Rimettere la pallina",
    "After a void: in the pocket of the last number.": "Dopo un colpo nullo: nella casella dell'ultimo numero.",
    "Faites vos jeux": "Faites vos jeux",
    "Opens the table, or the bets.": "Apre il tavolo, o le puntate.",
    "Rien ne va plus": "Rien ne va plus",
    "Closes the bets.": "Chiude le puntate.",
    "Operations done": "Operazioni finite",
    "All is paid: the next coup may begin.": "Tutto è pagato: il colpo seguente può cominciare.",
    "Rien va": "Rien va",
    "The chef declares the coup void (N7).": "Il capo tavolo dichiara nullo il colpo (N7).",
    "Tout va": "Tout va",
    "After a void, when the ball lies in its pocket.": "Dopo un colpo nullo, quando la pallina è nella sua casella.",
    "Resume play": "Ripresa del gioco",
    "After a breakdown, when the wheel is in order.": "Dopo un'avaria, quando la roulette è in ordine.",
    "Stop the rotor": "Fermare il cilindro",
    "A hand holds it (N4, N5).": "Una mano lo tiene (N4, N5).",
    "Spin the rotor": "Spingere il cilindro",
    "A hand pushes it again.": "Una mano lo spinge di nuovo.",
    "Drop a chip": "Far cadere una fiche",
    "It falls in the cylinder (N6).": "Cade nel cilindro (N6).",
    "Take the chip out": "Togliere la fiche",
    "The cylinder is clear again.": "Il cilindro è di nuovo libero.",
    "Unplug the board": "Staccare la scheda",
    "The daemon sees nothing any more (N8).": "Il servizio non vede più nulla (N8).",
    "Plug the board in": "Riattaccare la scheda",
    "The daemon sees again.": "Il servizio vede di nuovo.",
    "Noise on a beam": "Disturbo su una fotocellula",
    "A beam pulses and no ball is there: nothing is decided by that.": (
        "Una fotocellula dà impulsi senza pallina: ciò non decide nulla."
    ),
    "Throw in a second ball": "Gettare una seconda pallina",
    "Two balls are no number (R3b).": "Due palline non fanno un numero (R3b).",
    "Take the second ball": "Prendere la seconda pallina",
    "One ball is left.": "Resta una pallina.",
    "Suspend play": "Sospendere il gioco",
    "A coup that runs is void (A6).": "Un colpo in corso è nullo (A6).",
    "La dernière": "La dernière",
    "The table closes after the next valid coup (A5).": "Il tavolo chiude dopo il prossimo colpo valido (A5).",
    "Close the table": "Chiudere il tavolo",
    "At once: a coup that runs is void (A6).": "Subito: un colpo in corso è nullo (A6).",
    "Change the bouler": "Cambiare il bouleur",
    "Another person spins from now on (A4).": "D'ora in poi lancia un'altra persona (A4).",
    "The chef has {who} spin from now on.": "Il capo tavolo fa lanciare {who} d'ora in poi.",
    "Reverse the rotor": "Invertire il cilindro",
    "A hand turns it the other way (A7).": "Una mano lo fa girare nell'altro senso (A7).",
    "The bouler turns the rotor the other way.": "Il bouleur fa girare il cilindro nell'altro senso.",
    "Switch the power off": "Togliere la corrente",
    "Board and daemon stop at once, without an orderly end.": "La scheda e il servizio si fermano di colpo.",
    "Switch the power on": "Ridare la corrente",
    "Both start anew, with what the journal has.": "Entrambi ripartono, con quello che contiene il giornale.",
    "The power is off already.": "La corrente manca già.",
    "The power of the cabinet goes off.": "La corrente del mobile viene tolta.",
    "The power is on.": "La corrente c'è.",
    "The power of the cabinet comes on.": "La corrente del mobile torna.",
    "A second ball lies in {number} already.": "Una seconda pallina è già nel {number}.",
    "A second ball is thrown in, and lies in {number}.": "Una seconda pallina viene gettata, ed è nel {number}.",
    "There is only one ball.": "C'è una sola pallina.",
    "A hand takes the second ball out.": "Una mano toglie la seconda pallina.",
    "lies in a pocket": "è in una casella",
    "is in the bouler's hand": "è nella mano del bouleur",
    "runs on the track": "gira sulla pista",
    "falls": "cade",
    "The ball leaves the track after {laps} laps.": "La pallina lascia la pista dopo {laps} giri.",
    "The ball rests in {number}.": "La pallina si ferma nel {number}.",
    "against the rotor": "contro il senso del cilindro",
    "in the rotor's own direction": "nel senso del cilindro",
    "against the rotor, weakly": "piano, contro il senso del cilindro",
    "clockwise": "in senso orario",
    "counter-clockwise": "in senso antiorario",
    "The ball is launched {way}, {how}. Left alone it runs {laps} laps.": (
        "La pallina è lanciata {way}, {how}. Se nessuno la tocca, fa {laps} giri."
    ),
    "The rotor stands still.": "Il cilindro è fermo.",
    "The rotor stands still: it has no direction to launch in.": (
        "Il cilindro è fermo: non ha un senso in cui lanciare."
    ),
    "The ball {where} already: there is only one.": "La pallina {where}: ce n'è una sola.",
    "The bouler has the ball in his hand already.": "Il bouleur ha già la pallina in mano.",
    "A hand takes the ball, which {where}.": "Una mano prende la pallina, che {where}.",
    "A hand takes the ball, which {where}, after {laps} laps.": (
        "Una mano prende la pallina, che {where}, dopo {laps} giri."
    ),
    "The ball {where}: wait until it rests, or take it.": "La pallina {where}: aspettare che si fermi, o prenderla.",
    "The ball lies in {number} already.": "La pallina è già nel {number}.",
    "A hand lays the ball in {number}.": "Una mano posa la pallina nel {number}.",
    "The rotor stands still, so no reader can see it there.": "Il cilindro è fermo, perciò nessun lettore può vederla.",
    "A hand holds the rotor already.": "Una mano tiene già il cilindro.",
    "A hand stops the rotor.": "Una mano ferma il cilindro.",
    "The rotor turns, {rpm} turns a minute.": "Il cilindro gira, {rpm} giri al minuto.",
    "The bouler pushes the rotor.": "Il bouleur spinge il cilindro.",
    "A chip lies in the cylinder already.": "Una fiche è già nel cilindro.",
    "A chip falls in the cylinder.": "Una fiche cade nel cilindro.",
    "There is no chip in the cylinder.": "Nel cilindro non c'è nessuna fiche.",
    "A hand takes the chip out.": "Una mano toglie la fiche.",
    "The cable is out already.": "Il cavo è già staccato.",
    "The cable of the sensor board is pulled out.": "Il cavo della scheda dei sensori è staccato.",
    "The cable is in.": "Il cavo è attaccato.",
    "The cable of the sensor board is plugged in.": "Il cavo della scheda dei sensori è riattaccato.",
    "Beam {beam} pulses twice, and no ball is there.": (
        "La fotocellula {beam} dà due impulsi, e lì non c'è nessuna pallina."
    ),
    "at the bench": "al banco di prova",
    "The chef says “{words}”.": "Il capo tavolo dice «{words}».",
    "The table says “{words}”.": "Il tavolo dice «{words}».",
    "The direction says “{words}”.": "La direzione dice «{words}».",
    "Confirm the number": "Confermare il numero",
    "When it awaits the chef: where the ball was seen to rest (R3b).": (
        "Quando attende il capo tavolo: dove si è vista fermarsi la pallina (R3b)."
    ),
    "The chef confirms the number, without saying which.": "Il capo tavolo conferma il numero, senza dire quale.",
    "The chef confirms {number}.": "Il capo tavolo conferma il {number}.",
    "The people of the demo play by themselves.": "Le persone della demo giocano da sole.",
    "The people finish what they do; then it is your turn.": "Le persone finiscono ciò che fanno; poi tocca a voi.",
    "The people of the demo play. Press “By hand” first.": "Le persone della demo giocano. Premere prima «A mano».",
    "You play by hand already.": "Giocate già a mano.",
    "The people play by themselves already.": "Le persone giocano già da sole.",
    "The people finish their coup; then it is your turn.": "Le persone finiscono il loro colpo; poi tocca a voi.",
    "The people put the wheel in order and go on playing.": (
        "Le persone mettono in ordine la roulette e continuano a giocare."
    ),
    "The people make the table ready.": "Le persone preparano il tavolo.",
    "It is your turn.": "Tocca a voi.",
    "The people put the wheel in order.": "Le persone mettono in ordine la roulette.",
    "The people play {name}: {about}": "Le persone giocano {name}: {about}",
    "What was true: {outcome}.": "Che cosa era vero: {outcome}.",
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
    "beam_blind": (
        "Una fotocellula su quattro o più non vede nulla, un colpo o più: valgono, e al terzo lo si annuncia."
    ),
    "beam_fails_at_rest": (
        "Una fotocellula fallisce l'autotest quando la pallina è ferma e il numero non è ancora provato: vale."
    ),
    "beam_fails_in_the_fall": (
        "Una fotocellula fallisce l'autotest quando la pallina ha lasciato la pista: il colpo vale."
    ),
    "beam_spared": "Una fotocellula su quattro o più fallisce l'autotest durante la corsa: le altre provano il colpo.",
    "bouler_change": "Un altro bouleur subentra tra due colpi.",
    "breakdown_idle": "Il cavo si guasta tra due colpi: il tavolo è sospeso, ripreso, e continua.",
    "breakdown_link": "Il cavo tra scheda e computer si guasta mentre la pallina gira.",
    "breakdown_sensor": "Un sensore che gli altri non sostituiscono fallisce l'autotest durante la corsa.",
    "chef_void": "Il capo tavolo dichiara nullo il colpo in corso.",
    "close_running": "La direzione chiude il tavolo mentre la pallina gira; viene riaperto.",
    "confirmed_too_early": (
        "Il capo tavolo conferma numeri sbagliati durante la corsa e prima della prova: conta quello provato."
    ),
    "disc_slips_before_the_answer": (
        "Il disco dell'encoder slitta mentre un numero attende il capo: conferma, e nomina la casella della pallina."
    ),
    "disc_slips_idle": (
        "Il disco dell'encoder slitta tra due colpi: si nomina la casella della pallina, e il numero dopo è giusto."
    ),
    "disc_slips_in_operations": (
        "Il disco dell'encoder slitta dopo un numero: qualcuno nomina la casella della pallina, e il seguente è giusto."
    ),
    "disc_slips_running": (
        "Il disco dell'encoder slitta durante la corsa: un guasto; qualcuno nomina la casella della pallina."
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
    "lap_margin": "Un lancio di due-quattro giri: dove i passaggi non bastano, il capo tavolo dice se furono tre.",
    "launch_before_tout_va": "Un colpo nullo per parola del capo, poi un lancio prima di tout va: ancora nullo.",
    "launch_while_closed": (
        "La pallina di un tavolo chiuso è lanciata: un avviso, nessun colpo; poi il tavolo apre per un colpo valido."
    ),
    "launched_again_at_rest": (
        "La pallina è ripresa e rilanciata prima della prova del numero: il capo tavolo conferma il numero."
    ),
    "link_cut_at_launch": (
        "Il cavo è tagliato subito dopo il secondo passaggio di un lancio: un guasto, e tutto vale è dovuto."
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
    "reader_blind": "Un lettore su due o più non vede nulla, un colpo o più: valgono, e al terzo lo si annuncia.",
    "reader_spared": "Un lettore su due o più fallisce l'autotest durante la corsa: gli altri provano il numero.",
    "readers_blind": (
        "Nessun lettore vede la pallina caduta, forse una mano ferma il cilindro: il capo tavolo dà il numero."
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
    "rotor_stops_shortly": "Una mano ferma il cilindro per circa un secondo durante la corsa, e lo rilancia: nullo.",
    "same_direction": "La pallina è lanciata nel senso del cilindro.",
    "second_ball": (
        "Si getta una seconda pallina durante la caduta: due non fanno un numero, e il capo interpellato dice rien va."
    ),
    "sensor_fails_at_rest": (
        "Il cavo o l'unico lettore si guasta prima della prova del numero: il capo tavolo conferma il numero."
    ),
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
    "two_beams_blind": "Due fotocellule vicine su quattro non vedono nulla: la corsa non è vista intera.",
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
