"""What the demo and the bench page show, in French."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, str] = {
    "waiting for the table": "en attente de la table",
    "the wheel plays": "la roulette joue",
    "the wheel plays {name}: {about}": "la roulette joue {name} : {about}",
    "state": "état",
    "bets": "mises",
    "waiting for": "en attente",
    "last numbers": "derniers numéros",
    "last notice": "dernier avis",
    "coup": "coup",
    "verdict": "verdict",
    "nothing yet": "encore rien",
    "none": "aucun",
    "none yet": "aucun encore",
    "{seq}, nothing missing": "{seq}, rien ne manque",
    "{seq}, {gaps} missing": "{seq}, {gaps} manquants",
    "{laps} laps": "{laps} tours",
    "rotor {rpm} rpm": "cylindre {rpm} tours/min",
    "RESULT": "RÉSULTAT",
    "VOID": "NUL",
    "RULING": "DÉCISION",
    "table": "table",
    "numbers": "numéros",
    "notice": "avis",
    "reply": "réponse",
    "{state}, bets {bets}, waiting for: {steps}": "{state}, mises {bets}, en attente : {steps}",
    "{name} by {person}: done. {why}": "{name} par {person} : fait. {why}",
    "{name} by {person}: refused. {why}": "{name} par {person} : refusé. {why}",
    "{count} verdicts: {results} results, {voids} voids": (
        "{count} verdicts : {results} résultats, {voids} coups nuls"
    ),
    "seq {first} to {last}": "seq {first} à {last}",
    "no message": "aucun message",
    "{messages}, nothing missing; the seed was --seed {seed}": (
        "{messages}, rien ne manque ; la graine était --seed {seed}"
    ),
    "{messages}, {gaps} missing; the seed was --seed {seed}": (
        "{messages}, {gaps} manquants ; la graine était --seed {seed}"
    ),
    "not as it was played: {words}": "pas comme il a été joué : {words}",
    "each as it was played": "chacun comme il a été joué",
    "kept: {journal} (wheeld journal verify reads it; the next demo goes on with it)": (
        "gardé : {journal} (wheeld journal verify le lit ; la prochaine démo le continue)"
    ),
    "bench page": "page du banc",
    "result {number}, {laps} laps": "résultat {number}, {laps} tours",
    "void {cause}": "nul {cause}",
    "the ball lies there": "la bille est là",
    "the wheel is in order": "la roulette est en ordre",
    "nobody can say where the ball is": "personne ne sait dire où est la bille",
    "The bench": "Le banc d'essai",
    "Skip to the buttons": "Aller aux boutons",
    "The bench: a simulated wheel and the real daemon": "Le banc d'essai : une roulette simulée et le vrai service",
    "Pages of this wheel": "Pages de cette roulette",
    "Live page": "Page en direct",
    "Players’ display": "Afficheur des joueurs",
    "The bench has ended. What stands here is old.": "Le banc d'essai est terminé. Ce qui est affiché ici est ancien.",
    "The wheel, as its daemon sees it": "La roulette, comme son service la voit",
    "The live page of the wheel": "La page en direct de la roulette",
    "What happens at the wheel": "Ce qui se passe à la roulette",
    "By hand": "À la main",
    "Play by itself": "Jeu automatique",
    "What the daemon says": "Ce que dit le service",
    "What is true": "Ce qui est vrai",
    "Nothing was done: the bench does not answer.": "Rien n'a été fait : le banc d'essai ne répond pas.",
    "The ball": "La bille",
    "The people": "Les personnes",
    "The wheel and its sensors": "La roulette et ses capteurs",
    "Launch": "Lancer",
    "A good push, against the rotor.": "Un bon élan, contre le sens du cylindre.",
    "Launch with the rotor": "Lancer dans le sens du cylindre",
    "The ball runs in the rotor's own direction (N1).": "La bille tourne dans le sens du cylindre (N1).",
    "Launch weakly": "Lancer faiblement",
    "Too little push for three laps (N3).": "Trop peu d'élan pour trois tours (N3).",
    "Take the ball": "Prendre la bille",
    "A hand takes it, even off the track.": "Une main la prend, même sur la piste.",
    "Put the ball back": "Remettre la bille",
    "After a void: in the pocket of the last number.": "Après un coup nul : dans la case du dernier numéro.",
    "Faites vos jeux": "Faites vos jeux",
    "Opens the table, or the bets.": "Ouvre la table, ou les mises.",
    "Rien ne va plus": "Rien ne va plus",
    "Closes the bets.": "Ferme les mises.",
    "Operations done": "Opérations terminées",
    "All is paid: the next coup may begin.": "Tout est payé : le coup suivant peut commencer.",
    "Rien va": "Rien va",
    "The chef declares the coup void (N7).": "Le chef de table déclare le coup nul (N7).",
    "Tout va": "Tout va",
    "After a void, when the ball lies in its pocket.": "Après un coup nul, quand la bille est dans sa case.",
    "Resume play": "Reprise du jeu",
    "After a breakdown, when the wheel is in order.": "Après une avarie, quand la roulette est en ordre.",
    "Stop the rotor": "Arrêter le cylindre",
    "A hand holds it (N4, N5).": "Une main le tient (N4, N5).",
    "Spin the rotor": "Lancer le cylindre",
    "A hand pushes it again.": "Une main le pousse de nouveau.",
    "Drop a chip": "Laisser tomber un jeton",
    "It falls in the cylinder (N6).": "Il tombe dans le cylindre (N6).",
    "Take the chip out": "Enlever le jeton",
    "The cylinder is clear again.": "Le cylindre est de nouveau libre.",
    "Unplug the board": "Débrancher la carte",
    "The daemon sees nothing any more (N8).": "Le service ne voit plus rien (N8).",
    "Plug the board in": "Rebrancher la carte",
    "The daemon sees again.": "Le service voit de nouveau.",
    "Noise on a beam": "Parasite sur un faisceau",
    "A beam pulses and no ball is there: nothing is decided by that.": (
        "Un faisceau donne des impulsions sans bille : cela ne décide rien."
    ),
    "Throw in a second ball": "Jeter une seconde bille",
    "Two balls are no number (R3b).": "Deux billes ne font pas de numéro (R3b).",
    "Take the second ball": "Prendre la seconde bille",
    "One ball is left.": "Il reste une bille.",
    "Suspend play": "Suspendre le jeu",
    "A coup that runs is void (A6).": "Un coup en cours est nul (A6).",
    "La dernière": "La dernière",
    "The table closes after the next valid coup (A5).": "La table ferme après le prochain coup valable (A5).",
    "Close the table": "Fermer la table",
    "At once: a coup that runs is void (A6).": "Tout de suite : un coup en cours est nul (A6).",
    "Change the bouler": "Changer le bouleur",
    "Another person spins from now on (A4).": "Une autre personne lance désormais (A4).",
    "The chef has {who} spin from now on.": "Le chef de table fait lancer {who} désormais.",
    "Reverse the rotor": "Inverser le cylindre",
    "A hand turns it the other way (A7).": "Une main le fait tourner dans l'autre sens (A7).",
    "The bouler turns the rotor the other way.": "Le bouleur fait tourner le cylindre dans l'autre sens.",
    "Switch the power off": "Couper le courant",
    "Board and daemon stop at once, without an orderly end.": "La carte et le service s'arrêtent net.",
    "Switch the power on": "Remettre le courant",
    "Both start anew, with what the journal has.": "Les deux redémarrent, avec ce que contient le journal.",
    "The power is off already.": "Le courant est déjà coupé.",
    "The power of the cabinet goes off.": "Le courant du meuble est coupé.",
    "The power is on.": "Le courant est mis.",
    "The power of the cabinet comes on.": "Le courant du meuble est remis.",
    "A second ball lies in {number} already.": "Une seconde bille est déjà dans le {number}.",
    "A second ball is thrown in, and lies in {number}.": "Une seconde bille est jetée, et se trouve dans le {number}.",
    "There is only one ball.": "Il n'y a qu'une bille.",
    "A hand takes the second ball out.": "Une main enlève la seconde bille.",
    "lies in a pocket": "est dans une case",
    "is in the bouler's hand": "est dans la main du bouleur",
    "runs on the track": "tourne sur la piste",
    "falls": "tombe",
    "The ball leaves the track after {laps} laps.": "La bille quitte la piste après {laps} tours.",
    "The ball rests in {number}.": "La bille s'arrête dans le {number}.",
    "against the rotor": "contre le sens du cylindre",
    "in the rotor's own direction": "dans le sens du cylindre",
    "against the rotor, weakly": "faiblement, contre le sens du cylindre",
    "clockwise": "en sens horaire",
    "counter-clockwise": "en sens antihoraire",
    "The ball is launched {way}, {how}. Left alone it runs {laps} laps.": (
        "La bille est lancée {way}, {how}. Si personne n'y touche, elle fait {laps} tours."
    ),
    "The rotor stands still.": "Le cylindre est immobile.",
    "The rotor stands still: it has no direction to launch in.": (
        "Le cylindre est immobile : il n'a pas de sens dans lequel lancer."
    ),
    "The ball {where} already: there is only one.": "La bille {where} : il n'y en a qu'une.",
    "The bouler has the ball in his hand already.": "Le bouleur a déjà la bille dans la main.",
    "A hand takes the ball, which {where}.": "Une main prend la bille, qui {where}.",
    "A hand takes the ball, which {where}, after {laps} laps.": (
        "Une main prend la bille, qui {where}, après {laps} tours."
    ),
    "The ball {where}: wait until it rests, or take it.": (
        "La bille {where} : attendre qu'elle s'arrête, ou la prendre."
    ),
    "The ball lies in {number} already.": "La bille est déjà dans le {number}.",
    "A hand lays the ball in {number}.": "Une main pose la bille dans le {number}.",
    "The rotor stands still, so no reader can see it there.": (
        "Le cylindre est immobile, donc aucun lecteur ne peut l'y voir."
    ),
    "A hand holds the rotor already.": "Une main tient déjà le cylindre.",
    "A hand stops the rotor.": "Une main arrête le cylindre.",
    "The rotor turns, {rpm} turns a minute.": "Le cylindre tourne, {rpm} tours par minute.",
    "The bouler pushes the rotor.": "Le bouleur pousse le cylindre.",
    "A chip lies in the cylinder already.": "Un jeton est déjà dans le cylindre.",
    "A chip falls in the cylinder.": "Un jeton tombe dans le cylindre.",
    "There is no chip in the cylinder.": "Il n'y a pas de jeton dans le cylindre.",
    "A hand takes the chip out.": "Une main enlève le jeton.",
    "The cable is out already.": "Le câble est déjà débranché.",
    "The cable of the sensor board is pulled out.": "Le câble de la carte des capteurs est débranché.",
    "The cable is in.": "Le câble est branché.",
    "The cable of the sensor board is plugged in.": "Le câble de la carte des capteurs est rebranché.",
    "Beam {beam} pulses twice, and no ball is there.": (
        "Le faisceau {beam} donne deux impulsions, et aucune bille n'est là."
    ),
    "at the bench": "au banc d'essai",
    "The chef says “{words}”.": "Le chef de table dit « {words} ».",
    "The table says “{words}”.": "La table dit « {words} ».",
    "The direction says “{words}”.": "La direction dit « {words} ».",
    "Confirm the number": "Confirmer le numéro",
    "When it awaits the chef: where the ball was seen to rest (R3b).": (
        "Quand il attend le chef de table : là où on a vu la bille s'arrêter (R3b)."
    ),
    "The chef confirms the number, without saying which.": "Le chef de table confirme le numéro, sans dire lequel.",
    "The chef confirms {number}.": "Le chef de table confirme le {number}.",
    "The people of the demo play by themselves.": "Les personnes de la démo jouent seules.",
    "The people finish what they do; then it is your turn.": (
        "Les personnes finissent ce qu'elles font ; puis c'est à vous."
    ),
    "The people of the demo play. Press “By hand” first.": (
        "Les personnes de la démo jouent. Appuyer d'abord sur « À la main »."
    ),
    "You play by hand already.": "Vous jouez déjà à la main.",
    "The people play by themselves already.": "Les personnes jouent déjà seules.",
    "The people finish their coup; then it is your turn.": "Les personnes finissent leur coup ; puis c'est à vous.",
    "The people put the wheel in order and go on playing.": (
        "Les personnes mettent la roulette en ordre et continuent à jouer."
    ),
    "The people make the table ready.": "Les personnes préparent la table.",
    "It is your turn.": "C'est à vous.",
    "The people put the wheel in order.": "Les personnes mettent la roulette en ordre.",
    "The people play {name}: {about}": "Les personnes jouent {name} : {about}",
    "What was true: {outcome}.": "Ce qui était vrai : {outcome}.",
}
"""By the English text of the code."""

CODES: Mapping[str, str] = {
    "state closed": "table fermée",
    "state faites_vos_jeux": "faites vos jeux",
    "state ball_running": "la bille tourne",
    "state rien_ne_va_plus": "rien ne va plus",
    "state ball_on_obstacle": "la bille repose sur un obstacle",
    "state awaiting_chef": "le numéro attend le chef de table",
    "state operations": "opérations",
    "state rien_va": "coup nul",
    "state suspended": "jeu suspendu",
    "bets open": "ouvertes",
    "bets closed": "fermées",
    "bets locked": "bloquées",
}
"""By the member of the message `table` and its code."""

ABOUT: Mapping[str, str] = {
    "ball_lifted_at_rest": (
        "On soulève la bille avant que son numéro soit prouvé : le chef confirme le numéro, ou dit rien va."
    ),
    "beam_blind": (
        "Un faisceau sur quatre ou plus ne voit rien, un coup ou plus : ils valent, et c'est annoncé au troisième."
    ),
    "beam_fails_at_rest": (
        "Un faisceau échoue à son autotest quand la bille est au repos et son numéro pas encore prouvé : il vaut."
    ),
    "beam_fails_in_the_fall": "Un faisceau échoue à son autotest quand la bille a quitté la piste : le coup vaut.",
    "beam_spared": (
        "Un faisceau sur quatre ou plus échoue à son autotest en pleine course : les autres prouvent le coup."
    ),
    "bouler_change": "Un autre bouleur prend la place entre deux coups.",
    "breakdown_idle": "Le câble lâche entre deux coups : la table est suspendue, reprise, et continue.",
    "breakdown_link": "Le câble entre la carte et l'ordinateur lâche pendant que la bille tourne.",
    "breakdown_sensor": "Un capteur que les autres ne remplacent pas échoue à son autotest en pleine course.",
    "chef_void": "Le chef de table déclare nul le coup en cours.",
    "close_running": "La direction ferme la table pendant que la bille tourne ; elle est rouverte.",
    "confirmed_too_early": (
        "Le chef confirme de faux numéros pendant la course et avant la preuve : c'est le numéro prouvé qui compte."
    ),
    "disc_slips_before_the_answer": (
        "Le disque du codeur glisse pendant qu'un numéro attend le chef : il confirme, et nomme la case de la bille."
    ),
    "disc_slips_idle": (
        "Le disque du codeur glisse entre deux coups : on nomme la case de la bille, et le numéro suivant est juste."
    ),
    "disc_slips_in_operations": (
        "Le disque du codeur glisse après un numéro : quelqu'un nomme la case de la bille, et le suivant est juste."
    ),
    "disc_slips_running": (
        "Le disque du codeur glisse en pleine course : une panne ; quelqu'un nomme la case de la bille."
    ),
    "early_launch": "Un coup valable, puis un lancement avant la fin de ses opérations.",
    "first_coup_void": (
        "Le premier coup de la table est nul : sans numéro précédent, la parole du chef suffit ; puis un coup valable."
    ),
    "foreign_object": "Une pièce tombe dans le cylindre pendant que la bille tourne.",
    "foreign_object_after_drop": (
        "Une pièce tombe dans le cylindre quand la bille a quitté la piste, avant qu'elle soit dans une case."
    ),
    "la_derniere": (
        "Le dernier coup est annoncé ; un coup nul ne le consomme pas, le valable suivant ferme la table ; elle rouvre."
    ),
    "lap_margin": "Un lancement de deux à quatre tours : si les passages ne suffisent pas, le chef en juge.",
    "launch_before_tout_va": "Un coup nul par la parole du chef, puis un lancement avant tout va : nul encore.",
    "launch_while_closed": (
        "La bille d'une table fermée est lancée : un avis, pas de coup ; puis la table ouvre pour un coup valable."
    ),
    "launched_again_at_rest": (
        "La bille est reprise et relancée avant la preuve de son numéro : le chef confirme le numéro."
    ),
    "link_cut_at_launch": (
        "Le câble est coupé juste après le deuxième passage d'un lancement : une panne, et tout va est dû."
    ),
    "number_after_void": "La bille d'un coup nul tombe dans une case : c'est une preuve, pas un résultat.",
    "object_after": "Un jeton tombe dans le cylindre après la preuve du numéro, et on l'enlève : le numéro vaut.",
    "object_before_launch": (
        "Un jeton tombe dans le cylindre entre deux coups et on l'enlève avant le lancement : un coup valable."
    ),
    "object_before_the_proof": (
        "Une pièce tombe après que des lecteurs ont vu la bille au repos, avant la preuve : le numéro est sorti."
    ),
    "obstacle_falls": (
        "La bille repose sur un obstacle, tombe pendant que le cylindre tourne encore, et le numéro vaut."
    ),
    "obstacle_rotor_stops": "La bille repose sur un obstacle et le cylindre s'arrête avant qu'elle tombe.",
    "operations_done_before_proof": (
        "Opérations terminées est pressé quand la bille est au repos sans preuve : cela compte à partir de la preuve."
    ),
    "reader_blind": (
        "Un lecteur sur deux ou plus ne voit rien, un coup ou plus : ils valent, et c'est annoncé au troisième."
    ),
    "reader_spared": (
        "Un lecteur sur deux ou plus échoue à son autotest en pleine course : les autres prouvent le numéro."
    ),
    "readers_blind": (
        "Aucun lecteur ne voit la bille tombée, une main arrête peut-être le cylindre : le chef donne le numéro."
    ),
    "rien_ne_va_plus_by_mistake": (
        "Rien ne va plus est dit par erreur avant le lancement, faites vos jeux l'annule : un coup valable."
    ),
    "rien_va_at_rest": (
        "Le chef dit rien va quand la bille est au repos et son numéro pas encore prouvé : trop tard, il vaut."
    ),
    "rotor_braked_in_pocket": (
        "Une main freine le cylindre quand la bille est dans sa case, avant la preuve du numéro : il vaut."
    ),
    "rotor_braked_running": (
        "Une main frôle le cylindre pendant la course : il ralentit et tourne encore, et le coup vaut."
    ),
    "rotor_idle_stop": "Le bouleur arrête un moment le cylindre entre deux coups ; puis un coup valable.",
    "rotor_pushed_running": "Une main accélère le cylindre pendant la course, sans l'inverser : le coup vaut.",
    "rotor_reverses_running": (
        "Une main inverse le cylindre pendant la course : il s'est arrêté, ne fût-ce qu'un instant."
    ),
    "rotor_stopped_after_number": "Une main arrête le cylindre aussitôt le numéro prouvé : le numéro vaut.",
    "rotor_stopped_at_launch": "La bille est lancée alors que le cylindre est immobile.",
    "rotor_stopped_at_rest": (
        "Une main arrête le cylindre quand la bille est au repos, avant la preuve : le chef doit peut-être confirmer."
    ),
    "rotor_stops_running": "Une main arrête le cylindre pendant que la bille tourne.",
    "rotor_stops_shortly": "Une main arrête le cylindre une seconde environ pendant la course, et le relance : nul.",
    "same_direction": "La bille est lancée dans le sens du cylindre.",
    "second_ball": (
        "On jette une seconde bille pendant la chute : deux ne font pas un numéro, et le chef consulté dit rien va."
    ),
    "sensor_fails_at_rest": (
        "Le câble ou l'unique lecteur lâche avant la preuve du numéro : le chef confirme le numéro."
    ),
    "stray_idle": (
        "Un faisceau donne une impulsion quand la bille est dans sa case : pas de lancement, puis un coup valable."
    ),
    "stray_pulse": "Un faisceau donne une impulsion sans bille pendant la course : le coup vaut.",
    "suspend_at_rest": (
        "La direction suspend le jeu quand la bille est au repos et son numéro pas encore prouvé : il vaut."
    ),
    "suspend_idle": "La direction suspend le jeu entre deux coups, et un coup valable suit.",
    "suspend_running": "La direction suspend le jeu pendant que la bille tourne.",
    "too_few_laps": "Trop peu d'élan : la bille quitte la piste après 0,6 à 2,9 tours.",
    "too_weak_one_pass": "La bille ne croise qu'un ou deux faisceaux, puis se trouve dans une autre case.",
    "tout_va_at_once": (
        "Après un coup nul le chef dit tout va avant qu'un lecteur ait vu la bille : accordé dès que l'un l'a vue."
    ),
    "two_beams_blind": "Deux faisceaux voisins sur quatre ne voient rien : la course n'est pas vue entière.",
    "valid": "Un coup ordinaire : lancement, rien ne va plus pendant la course, un numéro.",
    "valid_few_laps": "Un lancement faible qui fait tout de même ses trois tours, de justesse.",
    "valid_no_rnvp": (
        "Personne ne dit rien ne va plus : le coup vaut, les mises ferment quand la bille quitte la piste."
    ),
    "valid_rnvp_before_launch": (
        "Rien ne va plus est dit avant le lancement, et peut-être une fois encore pendant la course."
    ),
    "valid_slow_rotor": "Le cylindre fait quatre à sept tours par minute, et le coup vaut.",
    "wrong_pocket_after_void": (
        "Après un coup nul la bille est mise dans une fausse case : tout va est refusé jusqu'à la bonne."
    ),
    "wrong_presses": (
        "On presse ce qui n'a pas de sens, à chaque étape d'un coup valable : tout est refusé et rien ne change."
    ),
    "wrong_presses_after_void": (
        "On presse ce qui n'a pas de sens après un coup nul : tout est refusé et rien ne change."
    ),
}
"""By its name, what a scenario is about."""
