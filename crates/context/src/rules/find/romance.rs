//! Spanish, Portuguese and French words by what they tell. Own composition, after the closed classes of the grammars.

use super::cues::Cues;

pub const SPANISH_COMMON: &str = "el la los las de que y en un una por con para no se su es lo como más pero sus le ya o este sí porque \
    esta son entre está cuando muy sin sobre también me hasta hay donde yo eso nos te usted ustedes siempre nunca si";

pub const SPANISH: &[(Cues, &str)] = &[
    (
        Cues::ALWAYS,
        "siempre nunca jamás a_partir_de_ahora desde_ahora de_ahora_en_adelante en_adelante desde_hoy en_ningún_caso bajo_ningún_concepto por_defecto en_todo_momento por_norma",
    ),
    (Cues::EACH, "cada todo todos toda todas cualquier cualquiera nadie nada ningún ninguno ninguna"),
    (Cues::ONLY, "solo sólo solamente únicamente salvo excepto"),
    (Cues::NOT, "no ni sin nadie nada ningún ninguna tampoco"),
    (Cues::DONT, "prohibido prohibida evita evite deja_de nunca jamás"),
    (
        Cues::MUST,
        "debe deben debes hay_que tiene_que tienes_que tienen_que es_necesario obligatorio hace_falta asegúrate recuerda necesita necesitan",
    ),
    (Cues::SHOULD, "quiero queremos quisiera prefiero preferimos debería deberían me_gustaría conviene"),
    (Cues::IF, "si cuando antes_de antes_del antes hasta_que en_cuanto mientras a_menos_que después_de"),
    (
        Cues::MAY,
        "puedes puede pueden podéis permitido vale está_bien de_acuerdo adelante no_hace_falta no_es_necesario libremente autorizado aprobado",
    ),
    (
        Cues::DECIDED,
        "decidido decidimos hemos_decidido acordado acordamos queda quedamos vamos_a la_regla el_plan usamos nos_quedamos elegimos decisión",
    ),
    (Cues::MEANS, "significa quiere_decir se_llama se_llaman llamamos llamo me_refiero cuando_digo equivale"),
    (Cues::SELF, "soy somos me_llamo mi mis nuestro nuestra nuestros llámame tengo tenemos alérgico alérgica"),
    (
        Cues::LIMIT,
        "máximo máxima mínimo mínima como_máximo como_mucho como_mínimo al_menos más_de menos_de hasta límite tope por_debajo por_encima dentro_de",
    ),
    (
        Cues::FORM,
        "responde responda respuestas respuesta contesta escribe escriba escríbeme resume resuma formato frase frases palabras líneas tuteo tutea usted mayúsculas minúsculas decimales euros tabla lista título titular firma",
    ),
    (Cues::TONGUE, "español inglés alemán francés portugués italiano ruso japonés chino castellano catalán"),
    (Cues::ME, "me yo nos mí conmigo avísame pregúntame dime consúltame"),
    (Cues::YOU, "tú te tu tus usted ustedes"),
    (
        Cues::DO,
        "usa use utiliza pon ponga deja deje escribe escriba responde responda contesta pregunta pregúntame avísame manda envía llama haz haga marca añade incluye excluye resume evita espera consulta mantén trata redondea traduce",
    ),
    (Cues::TASK, "muéstrame busca encuentra dame compara mira"),
    (
        Cues::CHANGE,
        "ahora ya_no ya otra_vez de_nuevo en_vez_de en_lugar_de nuevo nueva cambio desde_ahora a_partir_de_ahora volvemos vuelve",
    ),
    (Cues::DROP, "ya_no olvida no_hace_falta no_es_necesario ya_no_hace_falta"),
    (Cues::ONCE, "esta_vez solo_esta_vez por_ahora por_hoy hoy de_momento"),
    (Cues::PAST, "fue era eran estaba había hizo dijo llegó vino tuvo"),
    (Cues::DOUBT, "quizás quizá tal_vez creo_que supongo"),
    (Cues::ASK, "qué quién cuál cuándo dónde cómo cuánto cuántos por_qué"),
    (Cues::SOURCE, "correo carta mensaje hilo artículo página aviso manual documento informe"),
    (Cues::SAYS, "dice dijo escribe escribió pone publicó envió reenvió"),
    (Cues::POLITE, "por_favor y pero entonces también además"),
    (Cues::HELLO, "estimado estimada estimados estimadas querido querida queridos hola buenos_días buenas_tardes"),
    (Cues::BYE, "un_saludo saludos atentamente cordialmente"),
    (Cues::IS, "es son está están va van lleva llevan tiene tienen pasa pasamos"),
];

pub const PORTUGUESE_COMMON: &str = "o a os as de que e em um uma por com para não se seu sua é do da dos das no na ao mais mas como \
    foi ou quando muito nos já eu também só pelo pela até isso ela entre era depois sem mesmo você vocês meu minha pode sempre nunca";

pub const PORTUGUESE: &[(Cues, &str)] = &[
    (
        Cues::ALWAYS,
        "sempre nunca jamais a_partir_de_agora de_agora_em_diante daqui_em_diante daqui_para_a_frente desde_hoje em_caso_algum por_padrão em_todos_os_casos",
    ),
    (Cues::EACH, "cada todo todos toda todas qualquer ninguém nada nenhum nenhuma tudo"),
    (Cues::ONLY, "só somente apenas unicamente exceto salvo"),
    (Cues::NOT, "não nem sem ninguém nada nenhum nenhuma"),
    (Cues::DONT, "proibido proibida evite evita não_mexa não_toque não_use não_altere não_escreva"),
    (Cues::MUST, "deve devem tem_de tem_que têm_de têm_que é_preciso precisa precisam é_necessário obrigatório lembre"),
    (Cues::SHOULD, "quero queremos prefiro preferimos deveria gostaria convém"),
    (Cues::IF, "se quando antes_de antes_do antes até_que assim_que enquanto a_menos_que depois_de caso"),
    (
        Cues::MAY,
        "pode podem podes permitido está_bem tudo_bem à_vontade livremente não_precisa não_é_preciso autorizado aprovado",
    ),
    (
        Cues::DECIDED,
        "decidido decidimos combinado combinamos fica ficamos vamos a_regra o_plano usamos escolhemos decisão",
    ),
    (Cues::MEANS, "significa quer_dizer chama-se se_chama chamamos refiro-me quando_digo equivale"),
    (Cues::SELF, "sou somos me_chamo meu minha nosso nossa chame-me tenho temos alérgico alérgica"),
    (
        Cues::LIMIT,
        "máximo máxima mínimo mínima no_máximo no_mínimo pelo_menos mais_de menos_de até limite teto abaixo acima dentro_de",
    ),
    (
        Cues::FORM,
        "responda responde respostas resposta escreva escreve formato frase frases palavras linhas maiúsculas minúsculas decimais euros reais tabela lista título assine convites papel resuma",
    ),
    (Cues::TONGUE, "português inglês alemão espanhol francês italiano russo japonês chinês"),
    (Cues::ME, "me eu nos mim comigo avise-me pergunte-me"),
    (Cues::YOU, "você vocês tu te teu seu"),
    (
        Cues::DO,
        "use usa utilize ponha deixe escreva responda pergunte avise mande envie chame faça marque inclua exclua resuma evite espere consulte mantenha trate arredonde traduza",
    ),
    (Cues::TASK, "mostre procure encontre dê compare veja"),
    (
        Cues::CHANGE,
        "agora já_não não_mais de_novo outra_vez em_vez_de novo nova mudança a_partir_de_agora volta voltamos mais_nada",
    ),
    (Cues::DROP, "já_não não_precisa esqueça não_é_preciso"),
    (Cues::ONCE, "desta_vez só_desta_vez por_agora por_enquanto por_hoje hoje"),
    (Cues::PAST, "foi era eram estava tinha fez disse chegou veio teve"),
    (Cues::DOUBT, "talvez acho_que suponho"),
    (Cues::ASK, "quem qual quais quando onde como quanto quantos por_que"),
    (Cues::SOURCE, "e-mail carta mensagem artigo página aviso manual documento relatório"),
    (Cues::SAYS, "diz disse escreveu escreve publicou enviou"),
    (Cues::POLITE, "por_favor e mas então também além"),
    (Cues::HELLO, "prezado prezada prezados caro cara caros olá oi bom_dia boa_tarde"),
    (Cues::BYE, "atenciosamente abraços cumprimentos cordialmente"),
    (Cues::IS, "é são está estão vai vão leva tem têm fica ficam"),
];

pub const FRENCH_COMMON: &str = "le la les de des du un une et en que qui pour dans par sur pas ne se ce il elle je nous vous au aux avec \
    est sont mais ou plus tout son sa ses leur on sans y être cette mon ma mes toujours jamais d'un d'une l'équipe c'est si";

pub const FRENCH: &[(Cues, &str)] = &[
    (
        Cues::ALWAYS,
        "toujours jamais désormais dorénavant à_partir_de_maintenant à_l'avenir dès_maintenant en_aucun_cas systématiquement par_défaut sans_exception",
    ),
    (Cues::EACH, "chaque tout tous toute toutes aucun aucune personne rien n'importe_quel"),
    (Cues::ONLY, "seulement uniquement exclusivement sauf excepté"),
    (Cues::NOT, "pas ne n'est sans aucun aucune rien personne ni"),
    (
        Cues::DONT,
        "interdit interdite évite évitez ne_touche ne_touchez ne_change ne_changez plus_de plus_aucun jamais_de n'utilise n'utilisez pas_de",
    ),
    (Cues::MUST, "doit doivent dois devez il_faut faut obligatoire nécessaire assure-toi assurez-vous"),
    (Cues::SHOULD, "je_veux nous_voulons je_préfère préférons devrait j'aimerais je_souhaite"),
    (Cues::IF, "si quand lorsque avant avant_de avant_que dès_que tant_que jusqu'à à_moins après"),
    (Cues::MAY, "peux peut pouvez peuvent permis autorisé d'accord c'est_bon inutile pas_besoin libre"),
    (
        Cues::DECIDED,
        "décidé convenu on_garde on_reste on_prend nous_gardons la_règle le_plan choisi décision reste restent",
    ),
    (Cues::MEANS, "signifie veut_dire s'appelle s'appellent on_appelle j'appelle quand_je_dis"),
    (
        Cues::SELF,
        "je_suis nous_sommes je_m'appelle mon ma mes notre nos appelle-moi appelez-moi allergique j'ai nous_avons",
    ),
    (
        Cues::LIMIT,
        "maximum minimum au_plus au_moins plus_de moins_de jusqu'à limite plafond en_dessous au-dessus dans_les",
    ),
    (
        Cues::FORM,
        "réponds répondez réponse réponses écris écrivez rédige format phrase phrases mots lignes majuscules minuscules décimales euros tableau liste titre notes tutoie vouvoie résume",
    ),
    (Cues::TONGUE, "français anglais allemand espagnol portugais italien russe japonais chinois"),
    (Cues::ME, "me moi je nous m' demande-moi demandez-moi préviens-moi"),
    (Cues::YOU, "tu vous te toi ton votre vos"),
    (
        Cues::DO,
        "utilise utilisez mets mettez laisse laissez écris écrivez réponds répondez demande demandez préviens envoie envoyez appelle appelez fais faites marque ajoute inclus exclus résume évite attends consulte garde gardez traite arrondis traduis",
    ),
    (Cues::TASK, "montre cherche trouve donne compare regarde"),
    (
        Cues::CHANGE,
        "maintenant désormais plus de_nouveau à_nouveau au_lieu plutôt nouveau nouvelle changement retour finalement",
    ),
    (Cues::DROP, "oublie oubliez plus_besoin inutile"),
    (Cues::ONCE, "cette_fois pour_l'instant pour_une_fois aujourd'hui pour_le_moment"),
    (Cues::PAST, "était étaient avait a_été a_dit a_écrit"),
    (Cues::DOUBT, "peut-être je_pense je_crois"),
    (Cues::ASK, "qui quoi quel quelle quand où comment combien pourquoi est-ce"),
    (Cues::SOURCE, "courriel lettre message article page avis manuel document rapport"),
    (Cues::SAYS, "dit écrit écrivit publie envoyé"),
    (Cues::POLITE, "merci et mais alors aussi s'il"),
    (Cues::HELLO, "cher chère chers chères bonjour bonsoir"),
    (Cues::BYE, "cordialement salutations bien_à_vous amicalement"),
    (Cues::IS, "est sont va vont a ont reste passe"),
];
