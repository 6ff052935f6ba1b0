// Twenty domains of ordinary conversation with tools: what is asked, what the tools answer, what the agent says. No turn here states a rule.
// Names, numbers and places are invented. `{a|b}` and `$name` are explained in join.mjs.

const names = [
  "Ottilie Brandt",
  "Kwame Asante",
  "Sunniva Dahl",
  "Ferran Puig",
  "Leocadia Ruiz",
  "Tadeo Marsh",
  "Imke Voss",
  "Bram de Wit",
  "Yuki Arata",
  "Noor Haddad",
  "Pavel Zeman",
  "Celeste Amaro",
  "Rhys Pugh",
  "Zofia Lis",
  "Anselm Krol",
  "Delphine Roux",
  "Mirela Stan",
  "Oskar Lund",
];
const who = (d) => d.pick(names);
const grid = (head, lines) => [head, ...lines].map((line) => line.join(" | ")).join("\n");
const distinct = (list) => [...new Set(list)];
const sheet = (head, lines) => [head, ...lines].map((line) => line.join(",")).join("\n");

const code = {
  slots: {
    mod: ["ledger", "inbox", "scheduler", "uploads", "auth", "search", "exports", "billing"],
    fn: ["parseWindow", "mergeSlots", "toCursor", "loadShard", "pickLease", "renderRow", "closeBatch"],
    n: (d) => String(d.between(2, 90)),
    err: [
      "TypeError: slot is undefined",
      "ETIMEDOUT after 5000 ms",
      "expected 3 rows, got 4",
      "AssertionError: cursor went backwards",
      "lease lost while writing",
    ],
  },
  acks: ["Okay.", "Got it, carrying on.", "Understood.", "Will do. Back to the code."],
  episodes: [
    (d) => {
      d.U(
        "{the|That} $mod test {is red again|fails on my branch}, {any idea|can you look}? {I never know whether it's the clock or us.|It must have been green on Tuesday.|Happens one time in five.}",
      );
      d.T(
        "run_tests",
        { path: "src/$mod" },
        d
          .many(
            9,
            24,
            (i) =>
              `${d.chance(0.85) ? "ok" : "not ok"} ${i + 1} ${d.tell("$mod: {keeps|drops|orders|merges|retries} {slots|rows|leases|cursors} {when empty|after a restart|at midnight|on overflow}")} (${d.between(1, 900)} ms)`,
          )
          .join("\n") + d.tell("\n  $err\n    at $fn (src/$mod/index.ts:$n:7)\n    at run (src/$mod/worker.ts:$n:15)"),
      );
      d.A(
        "{It is the second assertion.|One of them is real:} $fn {reads the list before it is sorted|takes the old cursor when the batch is empty}. {A two-line change in $mod fixes it, the rest stays green.|I can reproduce it with seed $n.}",
      );
    },
    (d) => {
      d.U("{What does $fn do|Remind me what $fn does} {exactly|these days}{, and who calls it?|?}");
      d.T(
        "read_file",
        { path: "src/$mod/index.ts" },
        d
          .many(
            22,
            48,
            (i) =>
              `${i + 1}\t` +
              d.tell(
                "{  const $mod = await load('$fn', ‹ limit: $n ›);|  if (rows.length > $n) return $fn(rows);|  // {kept for old clients|see the note on cursors|order matters here}|  log.debug('$mod', ‹ took: clock() ›);|  for (const row of rows) out.push($fn(row, $n));|›|export async function $fn(input: Batch): Promise<Row[]> ‹|  return out.slice(0, $n);}",
              ),
          )
          .join("\n"),
      );
      d.A(
        "{It turns a batch into rows|It picks the window} and {hands them to $mod|is called from three places}. {The limit of $n comes from an old ticket.|The comment above it is out of date.}",
      );
    },
    (d) => {
      d.U(
        "{I pulled this from the server, does it tell you something?|log from last night, seems odd:|Here's what $mod printed before it died.}",
        d
          .many(12, 34, () =>
            d.tell(
              `${d.hour()}:${d.between(10, 59)} {info|info|warn|error} $mod {flushed $n rows|lease renewed in $n ms|$err|queue depth $n|retry {1|2|3} of 3|cache miss for $fn|gc pause $n ms}`,
            ),
          )
          .join("\n"),
      );
      d.A(
        "{The pause comes first, then the lease is lost.|Two workers hold the same lease for $n ms.} {I would look at the renewal, not at the queue.|The errors at the end are a consequence.}",
      );
    },
    (d) => {
      d.U("{Where else do we use|grep: who calls} $fn{| outside of tests}?");
      d.T(
        "grep",
        { pattern: "$fn" },
        distinct(
          d.many(8, 26, () =>
            d.tell(
              "src/$mod/{index|worker|types|util}.ts:$n:  {return $fn(rows)|import ‹ $fn › from '../$mod'|await $fn(batch, $n)|expect($fn([])).toEqual([])}",
            ),
          ),
        ).join("\n"),
      );
      d.A("{In $n places, most of them in $mod.|Only $mod and the worker call it.} {None of them passes the second argument.|}");
    },
    (d) => {
      d.U("{Could we get rid of|What would it take to replace} the {polling|retry loop|shared cache} in $mod? {Just thinking aloud.|Rough idea is enough.|}");
      d.A(
        "{Half a day, I think:|Three steps:} {a queue per tenant, a cursor that is written with the rows, and a test for the restart|move the lease into the transaction, drop the timer, keep the metric}. {The risk sits in $fn, since it has $n callers.|What we lose is the order across tenants.}",
      );
    },
  ],
};

const data = {
  slots: {
    col: ["net_sales", "visits", "returns", "basket", "margin", "new_members"],
    city: ["Arnsund", "Belcourt", "Dravik", "Port Elo", "Quillan", "Sankt Orm"],
    n: (d) => String(d.between(2, 60)),
    q: ["Q1", "Q2", "Q3", "Q4"],
  },
  acks: ["Noted.", "Okay, I keep it in mind.", "Fine.", "Understood, next query."],
  episodes: [
    (d) => {
      d.U("{Sum up|show me} $col {by store|per city} for $q{| and the year before}{.|, quick look only}");
      d.T(
        "sql",
        { query: "select city, sum($col) from facts where quarter = '$q' group by city" },
        sheet(
          ["city", "stores", "value", "year_before", "delta_pct"],
          d.many(9, 22, () => [d.tell("$city"), d.between(1, 14), d.decimal(2000, 90000), d.decimal(2000, 90000), d.decimal(-22, 31, 1)]),
        ),
      );
      d.A(
        "{$city leads, the islands are last.|Up by $n percent overall,} {most of the change sits in $city|the small stores explain half of it}. {One store closed for $n days.|The year before had an extra Saturday.}",
      );
    },
    (d) => {
      d.U("{Something's off with $col in $city, see?|why does $col in $city jump around $q?} {It can't be the weather, can it.|My boss will ask.|}");
      d.T(
        "python",
        { code: "decompose(df, '$col').tail($n)" },
        d
          .many(
            14,
            32,
            (i) =>
              `week ${String(i + 1).padStart(2)}  trend ${d.decimal(80, 120, 1)}  season ${d.decimal(-9, 9, 1)}  rest ${d.decimal(-14, 14, 1)}${d.chance(0.12) ? "  <- outlier" : ""}`,
          )
          .join("\n"),
      );
      d.A(
        "{A price change went live that week.|The till in $city was down for $n hours.} {Without it the trend is flat.|The rest is within the usual noise.} {I can mark the weeks in the chart.|}",
      );
    },
    (d) => {
      d.U("{Which columns have holes?|How clean is the new extract?} {I was told it should be fine.|}");
      d.T(
        "profile",
        { table: "extract" },
        JSON.stringify(
          d.many(8, 15, () => ({
            column: d.tell("$col") + d.code("_##"),
            type: d.pick(["float", "int", "text", "date"]),
            missing: d.between(0, 400),
            distinct: d.between(2, 9000),
            min: d.decimal(0, 10),
            max: d.decimal(100, 9000),
            top: d.tell("$city"),
          })),
          null,
          d.pick([undefined, 1]),
        ),
      );
      d.A(
        "{Two columns are half empty|Only $col has gaps}, {$n rows in all|mainly from $city}. {The dates are text in the last file.|It is usable for the monthly view.}",
      );
    },
    (d) => {
      d.U(
        "{They sent me this, what do I make of it?|Numbers from the store manager, pasted as they came:}",
        grid(
          ["day", "till", "visits", "note"],
          d.many(8, 20, () => [
            d.day(),
            d.decimal(300, 9000),
            d.between(20, 800),
            d.pick(["", "rain", "market day", "half staff", "till 2 broken", "school holiday"]),
          ]),
        ),
      );
      d.A(
        "{The visits fit, the till does not:|Compared with ours:} {two days are counted twice|a refund is booked as a sale}. {The total is off by $n percent.|After that it matches to the cent.}",
      );
    },
    (d) => {
      d.U("Is {a forecast for $city|clustering the stores|a model for $col} {worth the trouble|sensible with this little data}?");
      d.A(
        "{With $n months, barely.|It would work for the large stores.} {A moving average is within $n percent of anything clever.|The holidays matter more than the method.}",
      );
    },
  ],
};

const desk = {
  slots: {
    plan: ["Solo", "Team", "Campus", "Plus"],
    thing: ["the export button", "the calendar sync", "a double charge", "the login link", "an empty dashboard", "the mobile app"],
    n: (d) => String(d.between(2, 48)),
    who: names,
  },
  acks: ["Sure.", "Noted, next one.", "Alright.", "Thanks, understood."],
  episodes: [
    (d) => {
      const t = d.code("T-####");
      d.U(`{next:|Can you check} ${t}, $who about $thing{. Third time this month|, seems urgent|}{.| I think.}`);
      d.T(
        "ticket",
        { id: t },
        {
          id: t,
          from: who(d),
          plan: d.tell("$plan"),
          opened: d.day(),
          thread: d.many(3, 7, (i) => ({
            by: i % 2 ? "support" : "customer",
            at: d.hour(),
            text: d.tell(
              "{I tried it in another browser and $thing is the same.|We looked at your account and see $n events since Monday.|Should I have to reinstall every time?|It says saved, then it isn't.|Thank you for the film, that helped.|Nothing in the spam folder either.|My colleague on $plan has no such trouble.|Could you tell us the time of the last try?}",
            ),
          })),
        },
      );
      d.A(
        '{It looks like a stale session.|The import ran twice, hence the double row.} Draft: "{Thanks for your patience|Sorry for the back and forth}. {We cleared the stuck job, please try once more|The second charge goes back within $n hours}."',
      );
    },
    (d) => {
      d.U("{Anything in the help centre on|Is there an article about} $thing?");
      d.T(
        "help_search",
        { q: "$thing" },
        d
          .many(3, 5, () =>
            d.tell(
              `[${d.between(100, 900)}] {About|Fixing|When you miss} $thing\nOpen the settings, choose your workspace, {and wait for the green dot|then reconnect the account}. {On $plan this can take up to $n minutes.|The link in the mail works once.} {If the list is empty, reset the filter.|A file larger than $n MB is split.}`,
            ),
          )
          .join("\n\n"),
      );
      d.A("{Yes, the first one fits.|Two, both a little old.} {It says to reconnect and wait $n minutes.|In short: reset the filter, then export again.}");
    },
    (d) => {
      d.U("{How does the queue look?|what's piling up?|Give me the queue.}");
      d.T(
        "queue",
        { state: "open" },
        grid(
          ["ticket", "plan", "hours", "topic"],
          d.many(10, 26, () => [d.code("T-####"), d.tell("$plan"), d.between(1, 70), d.tell("$thing")]),
        ),
      );
      d.A("$n open. {Most are about $thing.|The oldest has waited since Friday.} {Five could share one answer.|Two look like the same person.}");
    },
    (d) => {
      d.U(
        "{The customer wrote back, read it please|here's the whole mail}:",
        d.tell("{Hi again|Hello team|Dear support}, ") +
          distinct(
            d.many(5, 12, () =>
              d.tell(
                "{I did what you said and now $thing shows the old name.|It always worked on my previous laptop.|My students wait for the link since nine.|You never told me that $plan has a limit.|I have to say your colleague was very kind.|The invoice says $n seats, we are eleven.|On my phone the button is under the keyboard.|I don't want to switch, I want it to work.}",
              ),
            ),
          ).join(" ") +
          d.tell(" {Best|Regards}, $who"),
      );
      d.A(
        "{They mix two things up: the seat count and $thing.|The keyboard issue is known, it is fixed in the next build.} {I would answer the first part now.|A short apology and the link is enough, I think.}",
      );
    },
    (d) => {
      d.U("{Which|What} macros do we have for $thing?");
      d.T(
        "macros",
        { topic: "$thing" },
        d
          .many(5, 10, () =>
            d.tell(`#${d.between(10, 99)} {Ask for a film|Reset and wait|Known, fix coming|Refund sent|Wrong workspace} ({used $n times|rarely used})`),
          )
          .join("\n"),
      );
      d.A("{Number two is the closest.|The third was used $n times with good ratings.}");
    },
  ],
};

const travel = {
  slots: {
    dest: ["Cala Nerva", "Puente Hondo", "Villa Ocre"],
    city: ["Valdoria", "Puerto Lirio", "San Telmo Alto", "Ribamar", "Montecid", "Isla Garza"],
    n: (d) => String(d.between(2, 40)),
    what: ["un hotel", "una pensión", "un apartamento", "un coche pequeño"],
  },
  acks: ["De acuerdo.", "Entendido.", "Vale, anotado.", "Perfecto, sigo."],
  episodes: [
    (d) => {
      d.U("{Búscame|Mira a ver si hay} $what en $city {para el puente|para la segunda semana}{. Nada urgente.|, por curiosidad.|.}");
      d.T(
        "search_stays",
        { city: "$city", nights: d.between(1, 6) },
        d.many(5, 9, () => ({
          name: d.tell("{Casa|Hostal|Posada|Villa} {Azucena|del Faro|Mirlo|Tres Olmos|La Noria}"),
          price: d.decimal(38, 190),
          rating: d.decimal(6, 9.8, 1),
          refundable: d.chance(0.6),
          walk_min: d.between(2, 30),
          notes: d.tell("{desayuno incluido|ascensor pequeño|ruido de la plaza|vista al patio|cocina compartida}"),
        })),
      );
      d.A(
        "{Hay $n opciones;|Lo mejor que veo:} {una pensión a $n minutos de la estación|un apartamento con patio, algo ruidoso}. {La más barata no admite cambios.|La segunda tiene mejores notas.}",
      );
    },
    (d) => {
      d.U("{¿Cómo vamos|¿Qué trenes hay} de $city a $dest {el martes|por la mañana|después de comer}?");
      d.T(
        "trains",
        { from: "$city", to: "$dest" },
        grid(
          ["sale", "llega", "cambios", "precio", "plazas"],
          d.many(6, 14, () => [d.hour(6, 14), d.hour(14, 23), d.between(0, 2), d.decimal(9, 80), d.between(0, 60)]),
        ),
      );
      d.A(
        "{El de la mañana es directo|Con un cambio se gana casi una hora}, {quedan $n plazas|cuesta $n euros}. {El último llega de noche.|Por la tarde hay obras en la vía.}",
      );
    },
    (d) => {
      d.U("{¿Qué se puede ver|Ideas para una tarde} en $city{ si llueve| con niños|}?");
      d.T(
        "guide",
        { city: "$city" },
        distinct(
          d.many(5, 10, () =>
            d.tell(
              "* {El mercado viejo|El museo del agua|La torre|El jardín botánico|El taller de barcos}: {abre de 9 a 14|cerrado los lunes|entrada $n euros|hay que subir $n escalones}. {Siempre hay cola al mediodía.|Nunca está lleno.|Los guías cuentan bien.}",
            ),
          ),
        ).join("\n"),
      );
      d.A(
        "{Yo empezaría por el mercado|El museo del agua es bonito y está a cubierto}, y {luego un café junto al río|después la torre, si aguantan las piernas}. En total, media tarde.",
      );
    },
    (d) => {
      d.U(
        "{Me ha llegado esto, ¿lo entiendes?|Te pego la confirmación:}",
        distinct(
          d.many(6, 13, () =>
            d.tell(
              "{Localizador|Tarifa|Salida|Regreso|Equipaje|Seguro|Tasas|Habitación}: {$city|$n EUR|1 bulto de $n kg|no incluido|doble|se paga en destino}",
            ),
          ),
        ).join("\n"),
      );
      d.A(
        "{Es la reserva de $city|Está todo}, {con tasas aparte|la maleta va incluida}. {Falta el nombre de la segunda persona.|El seguro cuesta $n euros más.}",
      );
    },
    (d) => {
      d.U("{¿Y cuánto llevamos gastado?|¿Qué tal vamos de dinero?}");
      d.T(
        "expenses",
        { trip: "primavera" },
        sheet(
          ["fecha", "concepto", "importe"],
          d.many(8, 20, () => [d.day(), d.tell("{tren|cena|entradas|$what|café|gasolina|peaje}"), d.decimal(2, 160)]),
        ),
      );
      d.A("Unos {$n|1$n|3$n} euros, {casi todo en trenes|la mitad en alojamiento}. {Vamos por debajo de lo pensado.|La cena del jueves pesa.}");
    },
  ],
};

const kitchen = {
  slots: {
    dish: ["the leek tart", "the lamb shoulder", "the beet salad", "the plum cake", "the fish stew", "the mushroom rice", "the bean soup"],
    sup: ["Halvorsen Fish", "Grünwald Farm", "Molino Ferri", "Delta Dairy"],
    n: (d) => String(d.between(2, 40)),
    who: names,
  },
  acks: ["Yes, chef.", "Okay.", "Got it.", "Noted for the board."],
  episodes: [
    (d) => {
      d.U("{how much|what} do we need for $dish {tonight|on Saturday}, $n covers?");
      d.T(
        "recipe",
        { dish: "$dish" },
        grid(
          ["item", "per 10", "unit", "in store"],
          d.many(7, 14, () => [
            d.pick(["leek", "butter", "flour", "cream", "shallot", "plum", "beans", "stock", "parsley", "salt", "eggs", "lamb"]),
            d.decimal(0.1, 4),
            d.pick(["kg", "l", "pcs"]),
            d.decimal(0, 12),
          ]),
        ),
      );
      d.A("{Enough of everything but cream.|Short on shallots by $n.} {I'd prep the base at two.|The oven is free from four.}");
    },
    (d) => {
      d.U("{Draft the order for|what do we order from} $sup {for tomorrow|today}?");
      d.T(
        "stock",
        { supplier: "$sup" },
        sheet(
          ["item", "on_hand", "par", "order", "price"],
          d.many(8, 18, () => [
            d.pick(["cod", "hake", "milk", "feta", "cream", "spelt flour", "carrots", "kale", "mussels", "yoghurt"]),
            d.between(0, 20),
            d.between(5, 30),
            d.between(0, 20),
            d.decimal(1, 24),
          ]),
        ),
      );
      d.A("{$n lines, about {90|140|310} euros.|Mostly dairy.} {Their van comes at {six|seven}.|The hake went up again.}");
    },
    (d) => {
      d.U("{Table $n sent $dish back, why?|what went wrong with $dish last night?} {It should have been easy.|}");
      d.T(
        "service_log",
        { day: d.day() },
        d
          .many(
            10,
            24,
            () =>
              `${d.hour(17, 22)} ${d.tell("{table $n: $dish fired|table $n: $dish passed|walk-in, party of 4|$who on the pass|86 on $dish until nine|table $n waits $n min|glass broken at the bar}")}`,
          )
          .join("\n"),
      );
      d.A(
        "{It waited on the pass for $n minutes.|Fired too early, the starters were late.} {Nobody is to blame, the printer jammed.|The second plate went out fine.}",
      );
    },
    (d) => {
      d.U(
        "{A guest left this on the site:|review of the week, have a read:}",
        distinct(
          d.many(4, 10, () =>
            d.tell(
              "{We came for $dish and stayed for the wine.|Never had to wait less, though the chair wobbled.|The waiter must be a musician.|$dish could have been warmer.|You always find a table by the window before seven.|My mother asked for the recipe of $dish.|A little loud, but it is a bistro after all.}",
            ),
          ),
        ).join(" "),
      );
      d.A("{Kind, on the whole.|Three points, one of them fair:} {$dish was lukewarm|the noise near the door}. {I could thank them in two lines.|}");
    },
    (d) => {
      d.U("{What could replace $dish on the card|any idea for a starter} {when the season ends|that uses up the kale}?");
      d.A(
        "{A cold soup with yoghurt|Roast carrots with seeds|A tart with goat cheese}, {cost near $n percent|it holds well on the pass}. {We made it two years ago and sold $n a night.|It needs one pan only.}",
      );
    },
  ],
};

const law = {
  slots: {
    case: (d) => d.code("M-2028-###"),
    party: ["Orrin Freight", "the Talbot estate", "Lakeside Tenants", "Brix & Daughters", "Dr. Pell"],
    n: (d) => String(d.between(2, 60)),
    doc: ["the lease", "the loan note", "the expert's report", "the settlement draft", "the works contract"],
  },
  acks: ["Understood.", "Very well.", "Noted.", "Okay, continuing with the file."],
  episodes: [
    (d) => {
      d.U("{Pull up|Where do we stand in} $case? {The other side called twice.|I see them at four.|}");
      d.T(
        "matter",
        { id: "$case" },
        {
          id: d.tell("$case"),
          party: d.tell("$party"),
          court: d.pick(["county court", "chamber 4", "arbitration"]),
          events: d.many(5, 11, () => ({
            date: d.day(),
            what: d.tell("{letter from $party|hearing moved by $n days|$doc filed|fee note sent|call, $n minutes|reply received}"),
          })),
          open: d.between(0, 6),
        },
      );
      d.A(
        "{The reply is in, the hearing stands.|$party asked for $n more days.} {Two points are open: the date of $doc and the interest.|Nothing is due this week.}",
      );
    },
    (d) => {
      d.U("{What does clause $n of|summarise} $doc {say about notice|on defects}?");
      d.T(
        "read_doc",
        { name: "$doc" },
        d
          .many(6, 12, (i) =>
            d.tell(
              `${i + 1}. {The tenant shall keep the yard clear|Notice must be given in writing|Defects are to be shown within $n days|Interest runs at $n hundredths a month|The parties shall meet before they sue|No set-off against rent is allowed|Either side may call an expert}, {unless agreed otherwise|save as in annex B|subject to clause $n}.`,
            ),
          )
          .join("\n"),
      );
      d.A(
        "{Written notice, $n days.|It is silent on the form;} {the annex adds a cure period|the next clause limits it to visible defects}. {There is a cross-reference that leads nowhere.|}",
      );
    },
    (d) => {
      d.U("{Compare|What changed between} the {two drafts|versions} of $doc?");
      d.T(
        "compare",
        { doc: "$doc" },
        distinct(
          d.many(8, 18, () =>
            d.tell(
              "{-|+} {clause $n: interest from {the due date|the date of notice}|annex $n {removed|added}|{may|shall} {deliver|repay} within $n days|definition of {Works|Premises|Loan} {widened|narrowed}}",
            ),
          ),
        ).join("\n"),
      );
      d.A("{They moved the interest date and widened one definition.|Mostly commas, one real change in clause $n.} {That is worth $n thousand at most.|}");
    },
    (d) => {
      d.U(
        "{the client forwards|this came by courier, scanned}:",
        d.tell("{Dear Counsel|Dear Madam|To whom it may concern}, ") +
          distinct(
            d.many(4, 9, () =>
              d.tell(
                "{we refer to $doc and to our call of last week.|our client was never told about the defect.|the yard has been closed for $n days.|we reserve all rights.|payment of $n thousand was due in spring.|$party must have known.|kindly confirm receipt.}",
              ),
            ),
          ).join(" "),
      );
      d.A("{A reservation of rights, no new facts.|They now admit the date.} {The point about the yard is weak.|I would file it and wait.}");
    },
    (d) => {
      d.U("{Time on $case so far?|How many hours have we put into $case?}");
      d.T(
        "timesheet",
        { matter: "$case" },
        sheet(
          ["date", "who", "minutes", "note"],
          d.many(9, 22, () => [d.day(), who(d), d.between(6, 240), d.tell("{call with $party|read $doc|draft|research|travel}")]),
        ),
      );
      d.A("{$n hours, a third of it research.|A little over $n hours.} {The travel is the largest single entry.|}");
    },
  ],
};

const lab = {
  slots: { strain: ["KR-12", "KR-19", "PL-3", "wt", "dA7"], gene: ["fimB", "ompT", "araC", "lacY", "rpoS"], n: (d) => String(d.between(2, 96)), who: names },
  acks: ["Okay.", "Noted in the log.", "Sure.", "Got it."],
  episodes: [
    (d) => {
      d.U("{plate reader is done, pull|can you get} the growth curve of $strain{| and wt next to it}?");
      d.T(
        "reader",
        { plate: d.code("P##") },
        sheet(
          ["min", "A1", "A2", "B1", "B2", "blank"],
          d.many(12, 30, (i) => [
            i * 20,
            d.decimal(0.05, 1.4, 3),
            d.decimal(0.05, 1.4, 3),
            d.decimal(0.05, 1.4, 3),
            d.decimal(0.05, 1.4, 3),
            d.decimal(0.03, 0.05, 3),
          ]),
        ),
      );
      d.A("{Doubling time about $n minutes.|$strain lags by an hour, then catches up.} {B2 looks like a bubble.|The blanks are flat.}");
    },
    (d) => {
      d.U("{Did the primers for $gene work|how were the qPCR runs for $gene}? {I never trust the first plate.|}");
      d.T(
        "qpcr",
        { target: "$gene" },
        grid(
          ["well", "sample", "ct", "tm"],
          d.many(10, 26, () => [d.code("@#"), d.tell("$strain"), d.decimal(14, 36), d.decimal(78, 88, 1)]),
        ),
      );
      d.A("{One peak, so yes.|Efficiency is $n percent, two wells failed.} {The no-template control came up late, at 35.|Replicates agree within 0.3.}");
    },
    (d) => {
      d.U("{Where's|Do we still have} $strain {in the freezer|glycerol}?");
      d.T(
        "freezer",
        { query: "$strain" },
        d.many(6, 14, () => ({ box: d.code("F#-##"), pos: d.code("@#"), strain: d.tell("$strain"), by: who(d), date: d.day(), vials: d.between(0, 6) })),
      );
      d.A("{Box F3, four vials.|Yes, $n vials, the oldest from 2027.} {One is marked as thawed.|}");
    },
    (d) => {
      d.U(
        "{from my notebook page, can you make sense of it|typed this at the bench}:",
        distinct(
          d.many(8, 18, () =>
            d.tell(
              "{spun $n min, pellet loose|$strain streaked on two plates|OD 0.$n at noon|$gene insert, band at {900|1100} bp, faint|forgot the lid for $n s|water bath at 42, must have drifted|repeat with fresh ligase}",
            ),
          ),
        ).join("\n"),
      );
      d.A("{The faint band is the likely cause.|You skipped the second wash, I think.} {A repeat costs $n minutes.|With fresh ligase it should tell.}");
    },
    (d) => {
      d.U("{What would explain|why is} $strain {clumping|growing slower} {without $gene|in the new medium}?");
      d.A(
        "{Surface proteins, most likely.|The carbon source: it can't use it without $gene.} {A microscope would tell in five minutes.|The paper from last year saw it at $n degrees.}",
      );
    },
  ],
};

const school = {
  slots: {
    cls: ["7b", "8a", "9c", "10a", "6d"],
    topic: ["fractions", "the water cycle", "the French Revolution", "magnets", "poems", "percentages"],
    n: (d) => String(d.between(2, 30)),
    who: names,
  },
  acks: ["Okay.", "Will do.", "Fine, noted.", "Understood."],
  episodes: [
    (d) => {
      d.U("{need|Give me} {five|a few} {tasks|questions} on $topic for $cls{, mixed levels|}{. They were restless today.|.}");
      d.A(
        "{1. A warm-up with pictures on $topic.|1. Sort $n cards into two piles.} {2. Explain it to a partner in one minute.|2. Find the mistake in the example.} {3. A word problem with $n in it.|3. Draw what happens next.} {4. One open question for the quick ones.|4. A riddle.}",
      );
    },
    (d) => {
      d.U("{Grades of $cls in the last test?|how did $cls do on $topic}?");
      d.T(
        "gradebook",
        { class: "$cls" },
        sheet(
          ["pupil", "points", "of", "grade", "absent"],
          d.many(14, 28, (i) => [`P${i + 1}`, d.between(6, 40), 40, d.between(1, 6), d.between(0, 9)]),
        ),
      );
      d.A("{Average {2.6|3.1|2.9}.|Two halves: ten did well, the rest guessed.} {Task $n was missed by nearly all.|The absent ones explain the tail.}");
    },
    (d) => {
      d.U("{when's|Is} {the hall|the lab room|room $n} free{ this week| on Tuesday|}?");
      d.T(
        "timetable",
        { room: "room $n" },
        grid(
          ["lesson", "mon", "tue", "wed", "thu", "fri"],
          d.many(7, 9, (i) => [i + 1, ...Array.from({ length: 5 }, () => (d.chance(0.5) ? d.tell("$cls") : "-"))]),
        ),
      );
      d.A("{Tuesday, lesson {3|5}.|Only Friday last.} {$who has asked for it as well.|}");
    },
    (d) => {
      d.U(
        "{a parent wrote this, a bit long|mail from home, what's the point of it?}",
        d.tell("Dear {teacher|Ms. Okafor}, ") +
          distinct(
            d.many(5, 11, () =>
              d.tell(
                "{my son says $topic was never explained.|He has to share a book with two others.|We must admit that mornings are hard here.|She always liked poems, until now.|The bus came $n minutes late.|Thank you for the trip to the museum.|I would like to know how the grade came about.|At home we tried it with apples.}",
              ),
            ),
          ).join(" "),
      );
      d.A("{They want to know how the grade was made.|Mostly thanks, and one question about the book.} {Two sentences would do.|A call may be kinder.}");
    },
    (d) => {
      d.U("{Find me|any good} {a film|an experiment|a text} {on|about} $topic{ that isn't from the nineties|}?");
      d.T(
        "library",
        { topic: "$topic" },
        d
          .many(5, 11, () =>
            d.tell(
              `[${d.between(1000, 9999)}] {A short look at|Everything about|Seven minutes of} $topic ({film|text|kit}, $n min, {loan until Friday|always on the shelf|must be booked})`,
            ),
          )
          .join("\n"),
      );
      d.A("{The second has the right length.|There is a kit with $n magnets, in the cellar.} {I skimmed it, the sound is poor.|}");
    },
  ],
};

const farm = {
  slots: {
    field: ["Long Acre", "the mill field", "Hollow Bottom", "North Terrace", "the church strip"],
    crop: ["winter wheat", "rape", "field beans", "oats", "potatoes"],
    n: (d) => String(d.between(2, 80)),
    cow: (d) => d.code("ear ####"),
  },
  acks: ["Right.", "Okay.", "Noted.", "Will keep that in mind."],
  episodes: [
    (d) => {
      d.U("{how wet is|what do the probes say on} $field? {Tractor would sink yesterday.|}");
      d.T(
        "probes",
        { field: "$field" },
        sheet(
          ["time", "depth_cm", "moisture", "temp"],
          d.many(12, 26, () => [d.hour(), d.pick([10, 20, 40]), d.decimal(11, 39, 1), d.decimal(3, 19, 1)]),
        ),
      );
      d.A("{$n percent at 20 cm, drying slowly.|Top is fine, below it is soup.} {Thursday looks better.|The gate corner stays wet.}");
    },
    (d) => {
      d.U("{Milk|yields} {this week|since Sunday}, {anything odd|who dropped}?");
      d.T(
        "parlour",
        { days: d.between(2, 7) },
        grid(
          ["cow", "kg", "cells", "visits"],
          d.many(10, 26, () => [d.tell("$cow"), d.decimal(9, 44, 1), d.between(40, 700), d.between(1, 4)]),
        ),
      );
      d.A("{Three below their line.|Nothing dramatic, two with high cells.} {$cow ate less since the new bale.|The herd average is {27|29|31} kg.}");
    },
    (d) => {
      d.U("{Weather for spraying?|is there a dry window before the weekend?}");
      d.T(
        "forecast",
        { place: "$field" },
        d
          .many(
            8,
            16,
            (i) =>
              `day ${1 + (i >> 1)} ${i % 2 ? "pm" : "am"}: ${d.decimal(2, 24, 1)} C, wind ${d.between(1, 14)} m/s, rain ${d.decimal(0, 11, 1)} mm, dew ${d.pick(["yes", "no"])}`,
          )
          .join("\n"),
      );
      d.A("{Wednesday morning, wind below {3|4}.|Not before Friday.} {The dew may hold it up until ten.|}");
    },
    (d) => {
      d.U(
        "{the co-op's price list, anything in it?|Got this from the merchant:}",
        grid(
          ["product", "pack", "price"],
          d.many(8, 18, () => [d.tell("{seed $crop|urea|lime|twine|mineral lick|diesel additive|net wrap}"), d.tell("$n kg"), d.decimal(6, 600)]),
        ),
      );
      d.A("{Lime is cheaper than last year.|Seed for $crop went up by $n percent.} {The rest is as before.|Twine is a trap, look at the length.}");
    },
    (d) => {
      d.U("{What grew on|last crops on} $field{ in the last years|}? {I ought to know, it's my own land.|}");
      d.T(
        "field_book",
        { field: "$field" },
        d.many(6, 12, (i) => d.tell(`${2028 - i}: $crop, {ploughed|min-till}, $n dt/ha, {lime $n dt|slurry twice|no lime|hail in June}`)).join("\n"),
      );
      d.A("{Wheat twice, then beans.|$crop, mostly.} {The yield fell after the hail year.|Beans would do it good.}");
    },
  ],
};

const theatre = {
  slots: {
    piece: ["La Cage de sel", "Les Oiseaux lents", "Minuit au moulin", "Trois portes"],
    n: (d) => String(d.between(2, 60)),
    role: ["la comtesse", "le facteur", "le second valet", "la voix", "Irène"],
    who: names,
  },
  acks: ["Entendu.", "D'accord.", "C'est noté.", "Très bien."],
  episodes: [
    (d) => {
      d.U("{Combien de places|Où en est la vente} pour $piece {samedi|ce week-end|jeudi} ?");
      d.T(
        "billetterie",
        { piece: "$piece" },
        grid(
          ["rang", "vendus", "invités", "libres"],
          d.many(10, 20, (i) => [String.fromCharCode(65 + i), d.between(0, 24), d.between(0, 4), d.between(0, 20)]),
        ),
      );
      d.A("{Il reste $n places, surtout au fond.|Presque plein.} {Les rangs du milieu partent d'abord.|Le tarif jeune marche bien.}");
    },
    (d) => {
      d.U("{Le planning des répétitions|Qui répète quoi} {demain|cette semaine} ? {Je suis perdue.|}");
      d.T(
        "planning",
        { semaine: d.between(1, 40) },
        d
          .many(9, 20, () =>
            d.tell(`${d.hour(10, 21)} {plateau|studio 2|foyer} : $piece, {acte 1|acte 2|raccord lumière|italienne}, {$role|toute la troupe|$who}`),
          )
          .join("\n"),
      );
      d.A("{Demain matin raccord lumière, puis l'acte 2.|Trois créneaux pour $role.} {Le studio est pris jusqu'à midi.|Rien après vingt heures.}");
    },
    (d) => {
      d.U("{Que disent les notes de régie d'hier|hier soir, un souci} {?|à l'acte 2 ?}");
      d.T(
        "rapport",
        { soir: d.day() },
        d
          .many(
            8,
            18,
            () =>
              `${d.hour(19, 22)} ${d.tell("{top $n avec retard|rideau en retard de $n s|$role oublie le chapeau|applaudissements longs|projecteur $n clignote|un téléphone au rang D|il faut toujours deux essais pour la trappe}")}`,
          )
          .join("\n"),
      );
      d.A("{Le top a glissé, rien de grave.|Un projecteur clignote encore.} {$role n'avait pas son chapeau.|La durée totale : une heure et $n minutes.}");
    },
    (d) => {
      d.U(
        "{Un article sur nous, regarde|Reçu ce matin par la poste} :",
        distinct(
          d.many(4, 9, () =>
            d.tell(
              "{On rit peu dans $piece, mais on respire.|$who porte $role avec une lenteur admirable.|Le décor doit beaucoup au hasard.|Jamais la salle ne fut si attentive.|La fin, hélas, dure $n minutes de trop.|Le public du jeudi est toujours le meilleur.}",
            ),
          ),
        ).join(" "),
      );
      d.A("{Plutôt tendre, avec une pique sur la fin.|Il a aimé la lumière.} {On peut en tirer une phrase.|}");
    },
    (d) => {
      d.U("{Une idée pour|Comment régler} {le changement de décor|l'entrée de $role|le noir final} ?");
      d.A("{Un contre-jour très lent, puis le silence.|Faire entrer $role par la salle.} {Cela gagne $n secondes.|C'est moins cher et plus beau.}");
    },
  ],
};

const ops = {
  slots: {
    svc: ["edge-proxy", "mailer", "ledger-db", "thumbs", "ci-runner", "vault", "metrics"],
    host: (d) => d.code("h##-@"),
    n: (d) => String(d.between(2, 98)),
    who: names,
  },
  acks: ["Ack.", "Okay.", "Noted, on it.", "Understood."],
  episodes: [
    (d) => {
      d.U("{$svc is slow|what's up with $svc}{ again|}, {look at it|check please}{. Users must think we sleep.|.}");
      d.T(
        "metrics",
        { service: "$svc" },
        sheet(
          ["t", "p50_ms", "p99_ms", "rps", "err_pct", "host"],
          d.many(14, 32, () => [d.hour(), d.between(4, 90), d.between(90, 4000), d.between(10, 900), d.decimal(0, 4), d.tell("$host")]),
        ),
      );
      d.A("{p99 follows the backups.|One host, the others are fine.} {Errors stay below {1|2} percent.|Memory on $host climbs since noon.}");
    },
    (d) => {
      d.U(`{logs of $svc around|show $svc from} ${d.hour()}, {last lines|tail}{| please}`);
      d.T(
        "logs",
        { service: "$svc" },
        d
          .many(
            18,
            44,
            () =>
              `${d.hour()}:${d.between(10, 59)} ${d.pick(["INFO", "INFO", "INFO", "WARN", "ERROR"])} ${d.tell("$host $svc {upstream timeout after $n s|reloaded config, $n routes|pool $n of 100|tls renewed|slow query $n ms|healthcheck ok|disk $n %|dropped $n packets}")}`,
          )
          .join("\n"),
      );
      d.A("{Timeouts right after the reload.|Nothing but slow queries.} {$host is the noisy one.|It settled by itself.}");
    },
    (d) => {
      d.U("{What's deployed|which version runs} {on $host|in staging|for $svc}?");
      d.T(
        "shell",
        { cmd: "kubectl get deploy -A" },
        grid(
          ["name", "image", "ready", "age"],
          d.many(8, 18, () => [d.tell("$svc"), `r${d.between(100, 900)}-${d.hex(7)}`, `${d.between(0, 6)}/6`, `${d.between(1, 90)}d`]),
        ),
      );
      d.A("{r{412|388|505} everywhere but $host.|All on the same build.} {One pod restarts now and then.|}");
    },
    (d) => {
      d.U(
        "{alert mail, is it real?|pager text, pasted:}",
        distinct(d.many(6, 14, () => d.tell("[{FIRING|RESOLVED}] {DiskFill|CertAge|QueueDeep|PodFlaps} $svc $host value=$n for {5m|10m}"))).join("\n"),
      );
      d.A("{Half of them resolved on their own.|QueueDeep is real, the rest is echo.} {$host fills at $n MB an hour.|}");
    },
    (d) => {
      d.U("Would {a bigger pool|a second replica|moving $svc to $host} {help|be crazy}?");
      d.A("{It would hide it for a week.|Yes, for reads.} {The cost is about $n a month.|I'd rather fix the query first.}");
    },
  ],
};

const words = {
  slots: {
    lang: ["Danish", "Czech", "Greek", "Finnish", "Hungarian"],
    doc: ["the pump manual", "the spa brochure", "the hearing aid app", "the wine labels", "the tender"],
    n: (d) => String(d.between(2, 70)),
    who: names,
  },
  acks: ["Okay.", "Noted.", "All right.", "Fine, next segment."],
  episodes: [
    (d) => {
      d.U("{segments $n and after of|next part of} $doc{, into $lang|}, {what's tricky|anything odd}?");
      d.T(
        "segments",
        { job: "$doc" },
        grid(
          ["id", "source", "match"],
          d.many(9, 22, (i) => [
            i + 1,
            d.tell(
              "{Turn the valve until it clicks|Do not cover the vent|Best enjoyed at $n degrees|Your session has ended|Bring a towel|The lid must be closed|See figure $n|Charge for $n minutes}",
            ),
            d.tell("$n %"),
          ]),
        ),
      );
      d.A("{Segment $n is ambiguous: lid or cover?|The rest is repetition.} {I would leave 'session' as in the memory.|Two have no context.}");
    },
    (d) => {
      d.U("{How do other people render|What's the usual $lang word for} '{vent|lid|press|finish|seat}'?");
      d.T(
        "termbase",
        { q: "term" },
        d.many(6, 14, () => ({
          term: d.pick(["vent", "lid", "press", "finish", "seat"]),
          lang: d.tell("$lang"),
          hits: d.between(1, 400),
          note: d.tell("{preferred by the client|old catalogue|must be checked|seen in $doc}"),
        })),
      );
      d.A("{Two candidates, the first is commoner.|In wine it is another word than in machines.} {$who used it $n times.|}");
    },
    (d) => {
      d.U(
        "{the client's comments on $doc:|feedback, brace yourself:}",
        distinct(
          d.many(5, 12, () =>
            d.tell(
              "{p. $n: sounds like a robot|p. $n: lovely|we always said 'guests' before|this must be shorter, it doesn't fit the label|why is there a comma|p. $n: typo|nobody says that in the north}",
            ),
          ),
        ).join("\n"),
      );
      d.A("{Three are taste, one is a typo.|The label is a real problem, $n characters at most.} {I can answer them in a table.|}");
    },
    (d) => {
      d.U("{How many words are left|status of $doc}?");
      d.T(
        "job",
        { name: "$doc" },
        {
          words: d.between(900, 20000),
          done: d.between(100, 900),
          fuzzy: d.between(0, 3000),
          due: d.day(),
          people: d.many(2, 5, () => ({ name: who(d), words: d.between(200, 4000) })),
        },
      );
      d.A("{About {2|3|5} thousand.|$n percent done.} {At this pace Thursday noon.|}");
    },
    (d) => {
      d.U("{does this read well|Which one is nicer}: {a short imperative or a full sentence|'the guest' or 'you'}{? For $doc.|?}");
      d.A("{The short one, on a label.|'You' is warmer, but $lang needs more room then.} {The old version mixed both.|}");
    },
  ],
};

const tax = {
  slots: {
    wer: ["Familie Holm", "Bäckerei Anders", "Frau Teschner", "Praxis Ebel", "Kanuverein Elde"],
    n: (d) => String(d.between(2, 80)),
    art: ["Fahrtkosten", "Arbeitszimmer", "Spenden", "Handwerker", "Kinderbetreuung", "Abschreibung"],
  },
  acks: ["Verstanden.", "In Ordnung.", "Notiert.", "Gut, weiter."],
  episodes: [
    (d) => {
      d.U("{Was fehlt noch bei|Wie weit sind wir mit} $wer{? Die rufen sonst wieder an.|?}");
      d.T(
        "akte",
        { mandant: "$wer" },
        grid(
          ["beleg", "datum", "betrag", "status"],
          d.many(9, 22, () => [d.tell("$art"), d.day(), d.decimal(9, 2400), d.pick(["da", "fehlt", "unleserlich", "doppelt"])]),
        ),
      );
      d.A("{$n Belege fehlen, vor allem $art.|Fast alles da.} {Einer ist unleserlich.|Die Summe passt noch nicht zum Vorjahr.}");
    },
    (d) => {
      d.U("{Rechne mal|Was kommt raus bei} $art {für|bei} $wer{, grob|}?");
      d.T(
        "rechner",
        { posten: "$art" },
        d.many(7, 14, () => d.tell("{Zwischensumme|Pauschale|Kürzung|Freibetrag|Höchstbetrag|Rest} $n: ") + d.decimal(10, 3000)).join("\n"),
      );
      d.A("{Gut {300|700|1100} Euro.|Kaum etwas, die Pauschale ist höher.} {Im Vorjahr waren es $n Euro mehr.|}");
    },
    (d) => {
      d.U(
        "{Das kam vom Amt, was wollen die?|Brief eingescannt:}",
        d.tell("Sehr geehrte Damen und Herren, ") +
          distinct(
            d.many(4, 9, () =>
              d.tell(
                "{zu $art liegen uns keine Nachweise vor.|wir bitten um Vorlage binnen $n Tagen.|der Bescheid ist vorläufig.|die Angaben zu $art müssen erläutert werden.|im Übrigen wurde antragsgemäß veranlagt.|die Zahlung war nie fällig.}",
              ),
            ),
          ).join(" "),
      );
      d.A("{Sie wollen Nachweise zu $art.|Im Kern nur eine Rückfrage.} {Zwei Seiten reichen.|Die Frist ist knapp.}");
    },
    (d) => {
      d.U("{Welche Fristen stehen an?|Was ist diese Woche fällig?}");
      d.T(
        "fristen",
        { tage: d.between(7, 30) },
        sheet(
          ["tag", "mandant", "was"],
          d.many(8, 18, () => [d.day(), d.tell("$wer"), d.tell("{Voranmeldung|Einspruch|Jahresabschluss|Rückfrage $art}")]),
        ),
      );
      d.A("{Drei bis Freitag.|$wer zuerst.} {Der Rest hat Luft.|}");
    },
    (d) => {
      d.U("{Lohnt sich|Bringt} {ein Einspruch|die Günstigerprüfung|eine Ratenzahlung} bei $wer {überhaupt|was}?");
      d.A("{Eher nicht, es geht um $n Euro.|Ja, die Chance ist gut.} {Das Amt hat das schon zweimal so gesehen.|Die Zinsen fressen es auf.}");
    },
  ],
};

const museum = {
  slots: {
    obj: ["the bronze heron", "the tide clock", "the salt sledge", "the blue chest", "the map of 1744", "the whaler's coat"],
    hall: ["hall 2", "the cabinet", "the long room", "the tower"],
    n: (d) => String(d.between(2, 90)),
    who: names,
  },
  acks: ["Okay.", "Noted.", "Certainly.", "Understood."],
  episodes: [
    (d) => {
      d.U("{What do we know about|pull the record of} $obj? {A visitor asked and I should have known.|}");
      d.T(
        "catalogue",
        { object: "$obj" },
        {
          inv: d.code("M.####.##"),
          title: d.tell("$obj"),
          made: d.between(1600, 1920),
          material: d.pick(["oak", "bronze", "paper", "wool", "tin"]),
          size_cm: [d.between(5, 200), d.between(5, 200)],
          place: d.tell("$hall"),
          history: d.many(4, 9, () => d.tell("{bought from $who|lent for $n days|cleaned by $who|moved to $hall|photographed, $n plates}")),
        },
      );
      d.A("{It came in 1931, from a shipyard.|Made around {1790|1820}, cleaned twice.} {The maker is a guess.|It was lent $n times.}");
    },
    (d) => {
      d.U("{climate in $hall|how damp was $hall} {over the weekend|last night}?");
      d.T(
        "climate",
        { room: "$hall" },
        sheet(
          ["time", "rh", "temp", "lux"],
          d.many(12, 28, () => [d.hour(), d.decimal(38, 66, 1), d.decimal(16, 24, 1), d.between(10, 220)]),
        ),
      );
      d.A("{A peak of $n percent after the tour.|Steady.} {The lamp by the door is bright.|The logger near the stairs lags.}");
    },
    (d) => {
      d.U("{Who comes|bookings} {this week|on Sunday}?");
      d.T(
        "bookings",
        { week: d.between(1, 50) },
        grid(
          ["time", "group", "size", "guide"],
          d.many(8, 18, () => [d.hour(9, 17), d.tell("{school|club|family|choir} $n"), d.between(4, 40), who(d)]),
        ),
      );
      d.A("{Four groups, one of $n.|Mostly schools.} {$who has two in a row.|}");
    },
    (d) => {
      d.U(
        "{From the guest book, worth a reply?|visitors wrote:}",
        distinct(
          d.many(6, 13, () =>
            d.tell(
              "{$obj is smaller than I thought.|My child wants to live in $hall.|You must have more chairs.|Never seen such a quiet guard.|The label of $obj has a typo.|We always come on rainy days.|Why is $obj so high up?}",
            ),
          ),
        ).join("\n"),
      );
      d.A("{Two ask for chairs.|The typo is real.} {The one about $obj deserves a line.|}");
    },
    (d) => {
      d.U("{Could $obj travel|Would $obj fit into} {to the sister house|the show in $hall}?");
      d.A("{With a new crate, yes.|It is too fragile at the joint.} {Insurance was {9|14|22} thousand last time.|The doorway is $n cm wide.}");
    },
  ],
};

const hike = {
  slots: {
    peak: ["Rauber Kopf", "Sella Bruna", "the Gulls' Ridge", "Kaltwasser Hut", "Mount Ivel", "the Seven Bends"],
    n: (d) => String(d.between(2, 60)),
    who: names,
  },
  acks: ["Okay.", "Good, noted.", "Sure.", "Got it."],
  episodes: [
    (d) => {
      d.U("{how long is|profile of} the tour to $peak{ via the south side|}?");
      d.T(
        "route",
        { to: "$peak" },
        sheet(
          ["km", "height_m", "grade_pct", "surface"],
          d.many(12, 28, (i) => [i, d.between(400, 2100), d.between(-20, 26), d.pick(["path", "scree", "road", "meadow", "steps"])]),
        ),
      );
      d.A("{{11|14|17} km, {700|950} m up.|Steep in the middle, then a long meadow.} {Scree after km $n.|Water at two places.}");
    },
    (d) => {
      d.U("{Who signed up for|list for} $peak? {I never remember who pays later.|}");
      d.T(
        "signups",
        { tour: "$peak" },
        grid(
          ["name", "age", "paid", "note"],
          d.many(8, 20, () => [
            who(d),
            d.between(14, 78),
            d.pick(["yes", "no"]),
            d.pick(["", "brings the rope", "slow downhill", "by train", "two dogs", "vegetarian"]),
          ]),
        ),
      );
      d.A("{{9|12|15} people, two unpaid.|Nearly full.} {$who comes by train.|Three can drive.}");
    },
    (d) => {
      d.U("{Trail report for|is the path open to} $peak?");
      d.T(
        "trail_reports",
        { area: "$peak" },
        d
          .many(5, 12, () =>
            d.tell(
              `${d.day()}: {bridge out, detour $n min|snow in the gully|path cleared by $who|always muddy at the spring|ladder must be renewed|fog, poles hard to see|hut full, bring a bag}`,
            ),
          )
          .join("\n"),
      );
      d.A("{Open, with a detour of $n minutes.|Snow in the gully still.} {The last report is a week old.|}");
    },
    (d) => {
      d.U(
        "{mail from the hut, what's new|the mountain guard's bulletin}:",
        distinct(
          d.many(5, 11, () =>
            d.tell(
              "{The stove at $peak is repaired.|Water has to be boiled until June.|$n beds, $n blankets.|Wind up to $n km/h on the ridge.|The key is with $who.|Last bus at {17:40|18:10}.}",
            ),
          ),
        ).join(" "),
      );
      d.A("{Boil the water, the stove works.|Windy on the ridge.} {The bus is the tight point.|}");
    },
    (d) => {
      d.U("{An idea for|what about} {a tour for beginners|the club evening|a snow day}?");
      d.A("{The meadow round, $n minutes of climb.|Slides from $peak and soup.} {It worked two years ago.|Needs one guide only.}");
    },
  ],
};

const game = {
  slots: {
    lvl: ["the flooded mine", "Lantern Town", "the kite hills", "the clock tower"],
    unit: ["the moth", "the ferryman", "the tin knight", "the bell crab"],
    n: (d) => String(d.between(2, 90)),
    who: names,
  },
  acks: ["Okay!", "Noted.", "Got it.", "Sure thing."],
  episodes: [
    (d) => {
      d.U("{balance sheet of $unit|stats for $unit}, {too strong|too weak}{, right| people say|}?");
      d.T(
        "units",
        { name: "$unit" },
        d.many(5, 10, () => ({
          level: d.between(1, 20),
          hp: d.between(20, 900),
          speed: d.decimal(0.5, 4),
          wins_pct: d.decimal(30, 70, 1),
          picks: d.between(10, 9000),
        })),
      );
      d.A("{Wins {52|56|61} percent, so a bit.|Fine until level $n.} {The speed does it, not the health.|}");
    },
    (d) => {
      d.U("{crash reports|what crashed} in $lvl {this build|since Monday}?");
      d.T(
        "crashes",
        { level: "$lvl" },
        d.many(10, 24, () => d.tell(`0x${d.hex(6)} $lvl/$unit.{lua|cpp}:$n {null target|stack too deep|nan in path|texture gone} x$n`)).join("\n"),
      );
      d.A("{One cause: $unit has no target after a reload.|Three kinds, one is old.} {Fix is small.|It only hits the slow preset.}");
    },
    (d) => {
      d.U(
        "{Players on the forum say, sigh|pasted from the forum}:",
        distinct(
          d.many(6, 14, () =>
            d.tell(
              "{$unit must be nerfed|I always die in $lvl|best music ever|never got past the $n gate|why can't $unit swim|devs pls|the hat is worth it|$lvl at night is a dream}",
            ),
          ),
        ).join("\n"),
      );
      d.A("{Half love $lvl, half drown in it.|The gate comes up $n times.} {The hat is popular.|}");
    },
    (d) => {
      d.U("{Frame times in|how heavy is} $lvl{ on the old console|}?");
      d.T(
        "profile",
        { scene: "$lvl" },
        sheet(
          ["frame", "cpu_ms", "gpu_ms", "draws", "mem_mb"],
          d.many(14, 30, (i) => [i * 60, d.decimal(3, 19), d.decimal(4, 22), d.between(200, 2600), d.between(600, 1900)]),
        ),
      );
      d.A("{GPU, because of the water.|Spikes at every save.} {$n draws could be merged.|}");
    },
    (d) => {
      d.U("{a line for $unit when it loses|what would $unit say} in $lvl?");
      d.A('{"The tide had other plans."|"Wake me when it rains."} {Or something with a bell.|Shorter than $n letters fits the bubble.}');
    },
  ],
};

const rent = {
  slots: {
    n: (d) => String(d.between(2, 60)),
    who: names,
    house: ["Kelp Street 4", "Orchard Row 11", "the Dyer's House", "Station Yard 2"],
    job: ["the boiler", "a damp wall", "the intercom", "the lift", "a broken gutter"],
  },
  acks: ["Okay.", "Noted.", "Fine.", "Understood, next."],
  episodes: [
    (d) => {
      d.U("{Who reported|what's the story with} $job in $house?");
      d.T(
        "reports",
        { house: "$house" },
        d.many(5, 10, () => ({
          no: d.code("R####"),
          by: who(d),
          on: d.day(),
          what: d.tell("$job"),
          state: d.pick(["new", "sent", "waiting for part", "done"]),
          text: d.tell("{It drips since $n days.|Never had this before.|The neighbours must hear it too.|Please ring twice.|I have to heat with the oven.}"),
        })),
      );
      d.A("{$who, twice.|Two tenants, same pipe.} {The part comes {Monday|in a week}.|Looks like the valve.}");
    },
    (d) => {
      d.U("{rents|who's behind} in $house{ this month|}?");
      d.T(
        "rents",
        { house: "$house" },
        grid(
          ["flat", "tenant", "due", "paid"],
          d.many(8, 18, (i) => [i + 1, who(d), d.decimal(380, 1400), d.decimal(0, 1400)]),
        ),
      );
      d.A("{Two, by $n euros.|All in but one.} {Flat $n pays in halves, as agreed last year.|}");
    },
    (d) => {
      d.U(
        "{offers for $job, compare|three quotes came}:",
        d.many(4, 9, () => d.tell("{Firma Lenz|Aquafix|R. Mohr|Stadtwerk Service}: $job, $n hours, {travel extra|all in}, ") + d.decimal(120, 4000)).join("\n"),
      );
      d.A("{The second, if the travel is included.|Lenz is dear but quick.} {They differ by $n percent.|}");
    },
    (d) => {
      d.U("{meter readings for $house?|what did $house use}");
      d.T(
        "meters",
        { house: "$house" },
        sheet(
          ["flat", "cold", "warm", "heat"],
          d.many(9, 20, (i) => [i + 1, d.decimal(2, 60, 1), d.decimal(1, 40, 1), d.between(100, 9000)]),
        ),
      );
      d.A("{Flat $n is out of line.|As last year, give or take.} {One meter stands still.|}");
    },
    (d) => {
      d.U(
        "{A tenant sent a letter, long one|pasted, from the Dyer's House}:",
        distinct(
          d.many(5, 11, () =>
            d.tell(
              "{I have lived here for $n years and never complained.|The stairs are always wet on Fridays.|You must know that the cat is old.|I was told the window would be done in May.|My rent went up and the lift stands.|I would like a copy of the bill.|With kind regards}",
            ),
          ),
        ).join(" "),
      );
      d.A("{They want the bill and a date for the window.|Mostly about the stairs.} {Two lines would calm it.|}");
    },
  ],
};

const radio = {
  slots: { show: ["Harbour Hours", "The Slow News", "Night Ferry", "Kitchen Radio"], guest: names, n: (d) => String(d.between(2, 58)) },
  acks: ["Okay.", "Noted.", "Alright.", "Copy."],
  episodes: [
    (d) => {
      d.U("{transcript of|what did we get from} $guest{ yesterday|}? {The middle part must be gold.|}");
      d.T(
        "transcript",
        { file: d.code("R##.wav") },
        d
          .many(
            10,
            22,
            (i) =>
              `${String(i * 2).padStart(2, "0")}:${d.between(10, 59)} ${d.tell("{A|B}: {I never thought of it as work.|We always met at the pier.|You have to listen to the engine.|And then, well, $n boats.|Could you say that again?|It smelled of tar and oranges.|No, that was the winter before.|That must have been the year of the ice.}")}`,
          )
          .join("\n"),
      );
      d.A("{Minute $n, the boats.|Two good bits, one with noise.} {The end drifts.|Tar and oranges is the line.}");
    },
    (d) => {
      d.U("{running order|what's on} {tonight|for $show}?");
      d.T(
        "rundown",
        { show: "$show" },
        grid(
          ["at", "item", "length", "who"],
          d.many(8, 16, () => [
            d.hour(18, 23),
            d.tell("{song|talk with $guest|weather|jingle|letter from a listener|archive $n}"),
            d.tell("$n s"),
            d.tell("$guest"),
          ]),
        ),
      );
      d.A("{$n seconds over.|Fits, if the talk ends on time.} {Two songs could swap.|}");
    },
    (d) => {
      d.U(
        "{Listeners wrote, anything for air?|the mailbag:}",
        distinct(
          d.many(6, 14, () =>
            d.tell(
              "{Play more brass.|$show saved my night shift.|You never say the titles.|The guest should have talked less.|My dog always howls at the jingle.|Where was the song at $n past?|I must tell you about my boat.}",
            ),
          ),
        ).join("\n"),
      );
      d.A("{The dog.|Two want titles, one wants brass.} {The boat one could be a call.|}");
    },
    (d) => {
      d.U("{numbers for $show|how many heard} last {week|Tuesday}?");
      d.T(
        "streams",
        { show: "$show" },
        sheet(
          ["day", "live", "later", "avg_min"],
          d.many(8, 20, () => [d.day(), d.between(90, 4000), d.between(40, 9000), d.decimal(4, 50, 1)]),
        ),
      );
      d.A("{Up, mainly later listening.|A dip after minute $n.} {Tuesday was best.|}");
    },
    (d) => {
      d.U("{A question for|how would you open with} $guest{, shy person|}?");
      d.A('{"What did it sound like?"|"Where were you at seven that morning?"} {Then wait $n seconds.|It worked with the ferryman.}');
    },
  ],
};

const vet = {
  slots: {
    pet: ["Mogli", "Frau Krause the hen", "Biscuit", "Tosca", "Nemo the tortoise", "Old Bill"],
    drug: ["meloxidine", "cefavet", "oralin", "tramacare"],
    n: (d) => String(d.between(2, 40)),
    who: names,
  },
  acks: ["Okay.", "Noted.", "Sure.", "Got it."],
  episodes: [
    (d) => {
      d.U("{chart of $pet|what did we find with $pet}{ last time|}?");
      d.T(
        "chart",
        { patient: "$pet" },
        {
          patient: d.tell("$pet"),
          owner: who(d),
          weight_kg: d.decimal(0.4, 48),
          visits: d.many(4, 9, () => ({
            on: d.day(),
            note: d.tell("{limps on the left|teeth cleaned|ate a sock|$drug for $n days|temperature 38.$n|owner must watch the stitches|never fasted before}"),
          })),
        },
      );
      d.A("{The limp, then better.|A sock, gone by itself.} {Weight up by $n percent since spring.|}");
    },
    (d) => {
      d.U("{Lab values of $pet are in, right?|blood of $pet?}");
      d.T(
        "blood",
        { patient: "$pet" },
        grid(
          ["value", "result", "low", "high"],
          d.many(9, 18, () => [
            d.pick(["ALT", "UREA", "CREA", "GLU", "WBC", "HCT", "PLT", "TP"]),
            d.decimal(1, 300, 1),
            d.decimal(1, 40, 1),
            d.decimal(60, 200, 1),
          ]),
        ),
      );
      d.A("{Liver a bit high.|Within range but one.} {Could be the $drug.|A repeat in $n days would tell.}");
    },
    (d) => {
      d.U("{Who's coming|list} {this afternoon|tomorrow}?");
      d.T(
        "calendar",
        { day: d.day() },
        d.many(8, 18, () => `${d.hour(8, 18)} ${d.tell("$pet ($who): {vaccination|stitches out|ears|check|nails|second opinion}")}`).join("\n"),
      );
      d.A(`{Busy until {four|five}.|$pet twice, must be a mistake.} {A gap at ${d.hour(12, 16)}.|The hen is last.}`);
    },
    (d) => {
      d.U(
        "{the owner's message, typed as it came|from the mailbox}:",
        distinct(
          d.many(5, 11, () =>
            d.tell(
              "{$pet didn't eat since last night.|He always sleeps on the left now.|I gave half of the $drug, was that wrong?|She never scratched before.|The stitch looks red, or pink.|My daughter must leave for school at eight.|Can I send a photo?}",
            ),
          ),
        ).join(" "),
      );
      d.A("{The half dose is no harm.|Red is normal for a day.} {A photo would help.|I'd see $pet today.}");
    },
    (d) => {
      d.U("{do we have $drug|stock of $drug}?");
      d.T(
        "cabinet",
        { drug: "$drug" },
        sheet(
          ["pack", "lot", "expires", "left"],
          d.many(5, 12, () => [d.tell("$n ml"), d.code("L####"), d.day(), d.between(0, 30)]),
        ),
      );
      d.A("{Enough for $n days.|Two packs, one expires soon.} {}");
    },
  ],
};

const desktop = {
  slots: {
    who: names,
    thing: ["the board dinner", "the flat viewing", "the dentist", "the choir trip", "the budget call", "the garden job"],
    n: (d) => String(d.between(2, 50)),
    file: ["minutes.odt", "budget.xlsx", "travel.pdf", "ideas.md", "contract-v3.docx"],
  },
  acks: ["Okay.", "Noted.", "Sure.", "Done, I'll remember."],
  episodes: [
    (d) => {
      d.U("{what's on|my calendar} {tomorrow|this week|Thursday}?");
      d.T(
        "calendar",
        { range: d.day() },
        grid(
          ["when", "what", "where", "with"],
          d.many(7, 16, () => [d.hour(7, 20), d.tell("$thing"), d.pick(["office", "online", "cafe Lumo", "home"]), who(d)]),
        ),
      );
      d.A("{Full until three.|$thing and then a gap.} {$who moved to {4|5} pm.|Two things overlap.}");
    },
    (d) => {
      d.U("{anything important in the inbox|mails since lunch}?");
      d.T(
        "inbox",
        { unread: true },
        d.many(7, 16, () => ({
          from: who(d),
          at: d.hour(),
          subject: d.tell("{Re: $thing|$file attached|short question|new date for $thing|invoice $n}"),
          preview: d.tell(
            "{I should have written sooner, but|Could we move it by $n minutes?|As always, thank you.|Never mind my last mail.|You must see this view.|Here is $file, third version.}",
          ),
        })),
      );
      d.A("{$who wants to move $thing.|Two need an answer.} {The rest is newsletters.|The invoice is for $n euros.}");
    },
    (d) => {
      d.U("{find $file|where did I put $file}? {I always lose it.|}");
      d.T("files", { name: "$file" }, d.many(7, 16, () => d.tell(`/home/me/{work|old|shared|desk}/${d.hex(4)}/$file\t$n kB\t${d.day()}`)).join("\n"));
      d.A("{In shared, newest from this month.|Two copies, they differ.} {The older has a page more.|}");
    },
    (d) => {
      d.U(
        "{What do you make of this draft|my text so far, rough}:",
        distinct(
          d.many(6, 13, () =>
            d.tell(
              "{The evening went well and nobody noticed the soup.|We have to talk about $thing some day.|Growth was $n percent, which is a nice number.|I never wanted to be treasurer.|It must be said that the hall was cold.|In short, come again.|$who played the cello.}",
            ),
          ),
        ).join(" "),
      );
      d.A("{Warm, a bit long.|The second half is stronger.} {The number could go first.|I'd cut the soup.}");
    },
    (d) => {
      d.U("{a present for $who|what could I cook for $who}{, under $n euros|}?");
      d.A("{A book about tides.|Bean stew and a cake.|Tickets for the choir.} {Can be had in two days.|It is easy to carry.}");
    },
  ],
};

export const domains = { code, data, desk, travel, kitchen, law, lab, school, farm, theatre, ops, words, tax, museum, hike, game, rent, radio, vet, desktop };

/** What users say before they ask, when their language is not that of the domain. */
export const remarks = {
  de: ["Danke dir.", "Gut, weiter.", "So, nächste Sache.", "Hm, verstehe.", "Kurze Frage."],
  es: ["Gracias.", "Vale.", "Otra cosa.", "A ver."],
  fr: ["Merci !", "Bon.", "Autre chose.", "Ah, d'accord."],
  pt: ["Obrigada.", "Certo.", "Outra coisa.", "Pois é."],
  it: ["Grazie.", "Bene.", "Un'altra cosa.", "Capito."],
  ja: ["ありがとう。", "なるほど。", "次です。", "了解しました。"],
  zh: ["谢谢。", "好的。", "下一个问题。", "明白了。"],
  ru: ["Спасибо.", "Понятно.", "Так, дальше.", "Ясно."],
  pl: ["Dzięki.", "Dobra.", "Następna sprawa.", "Jasne."],
  tr: ["Teşekkürler.", "Tamam.", "Sıradaki.", "Anladım."],
  nl: ["Dank je.", "Oké.", "Volgende.", "Helder."],
};
