//! German and Russian words, and parts of Japanese and Chinese sentences, by what they tell. Own composition, after the closed
//! classes of the grammars; of the languages that are written without spaces, endings of verbs and particles.

use super::cues::Cues;

pub const GERMAN_COMMON: &str = "der die das und ist in den von zu mit sich des auf für nicht ein eine als auch es an werden aus er hat \
    dass sie nach wird bei einer um am sind noch wie einem über einen so zum war haben nur oder aber vor zur bis mehr durch man sein wurde \
    wenn immer nie wir ich du ihr mir uns mich bitte keine kein keinen alle ab im";

pub const GERMAN: &[(Cues, &str)] = &[
    (
        Cues::ALWAYS,
        "immer nie niemals stets grundsätzlich ab_jetzt ab_sofort ab_heute von_jetzt_an von_nun_an künftig in_zukunft ausnahmslos jederzeit auf_keinen_fall standardmäßig generell",
    ),
    (Cues::EACH, "jede jeder jedes jeden jedem alle alles allen niemand nichts"),
    (Cues::ONLY, "nur ausschließlich lediglich außer erst_ab erst"),
    (Cues::NOT, "nicht kein keine keinen keiner keinem ohne nichts niemand weder"),
    (Cues::DONT, "verboten tabu darf_nicht dürfen_nicht finger_weg vermeide vermeiden vermeidet lass_die"),
    (Cues::MUST, "muss müssen musst soll sollen sollst braucht brauchen brauche pflicht nötig erforderlich zwingend"),
    (Cues::SHOULD, "will wollen möchte möchten hätte_gern sollte sollten bevorzuge lieber"),
    (Cues::IF, "wenn falls sobald bevor bis solange ehe nachdem sofern vor"),
    (
        Cues::MAY,
        "darfst darf dürfen kannst kann können erlaubt genehmigt in_ordnung okay freigegeben ruhig brauchst_nicht braucht_nicht nicht_mehr_nötig reicht genügt",
    ),
    (
        Cues::DECIDED,
        "entschieden beschlossen abgemacht vereinbart ausgemacht gilt gelten bleibt bleiben wir_nehmen wir_machen wir_rechnen wir_bleiben wir_gehen regel plan üblich festgelegt",
    ),
    (Cues::MEANS, "heißt heißen bedeutet bedeuten steht_für nennen nenne meine_ich gemeint meinen wir"),
    (
        Cues::SELF,
        "ich_bin wir_sind mein meine meinen unser unsere nenn_mich gehört allergisch ich_heiße ich_habe wir_haben",
    ),
    (
        Cues::LIMIT,
        "höchstens mindestens maximal minimal mehr_als weniger_als bis_zu über unter ab grenze limit obergrenze länger spätestens frühestens",
    ),
    (
        Cues::FORM,
        "antworte antworten antwort schreib schreibe schreiben format satz sätze sätzen wörter zeilen großbuchstaben nachkommastellen euro cent tabelle liste titel gesiezt duzen siezen geduzt buchen groß klein deutsch",
    ),
    (Cues::TONGUE, "deutsch englisch spanisch französisch portugiesisch italienisch russisch japanisch chinesisch"),
    (Cues::ME, "mir mich ich uns"),
    (Cues::YOU, "du dir dich dein deine ihr sie ihnen"),
    (
        Cues::DO,
        "nimm nutze verwende benutze lass lasse schreib schreibe antworte frag frage sag sage ruf mach mache setz setze markiere warte runde übersetze behalte achte vermeide bitte nenn nenne gib zeig halte halt",
    ),
    (Cues::TASK, "zeig zeige such suche finde gib vergleiche schau"),
    (
        Cues::CHANGE,
        "ab_jetzt ab_sofort ab_heute jetzt nun wieder nicht_mehr stattdessen neu neue neuer neuen änderung geändert doch kein_mehr",
    ),
    (Cues::DROP, "nicht_mehr vergiss hinfällig aufgehoben nicht_mehr_nötig entfällt"),
    (Cues::ONCE, "diesmal dieses_mal nur_heute ausnahmsweise einmalig vorerst heute für_jetzt"),
    (Cues::PAST, "war waren hatte hatten wurde wurden kam ging sagte schrieb"),
    (Cues::DOUBT, "vielleicht ich_glaube wahrscheinlich vermutlich"),
    (Cues::ASK, "was wer wie wo wann warum welche welcher welches wieso wieviel"),
    (Cues::SOURCE, "mail brief nachricht artikel seite hinweis handbuch dokument bericht aushang"),
    (Cues::SAYS, "sagt schreibt schrieb steht lautet meldet"),
    (Cues::POLITE, "bitte und aber also dann auch übrigens"),
    (Cues::HELLO, "sehr_geehrte sehr_geehrter liebe geehrte hallo guten_tag guten_morgen moin servus"),
    (Cues::BYE, "mit_freundlichen_grüßen viele_grüße freundliche_grüße herzliche_grüße beste_grüße gruß"),
    (Cues::IS, "ist sind wird werden hat haben geht gehen kommt kommen heißt buchen wir"),
];

pub const RUSSIAN_COMMON: &str = "и в не на я что тот быть с а весь это как по но они к у ты из мы за вы так же от о для до при или если \
    только нет все всё его её их мне нас вас";

pub const RUSSIAN: &[(Cues, &str)] = &[
    (
        Cues::ALWAYS,
        "всегда никогда отныне впредь с_этого_момента теперь_всегда ни_в_коем_случае по_умолчанию постоянно",
    ),
    (
        Cues::EACH,
        "каждый каждая каждое каждого каждую все всех всё любой любая любые любое никто ничего никакой никаких",
    ),
    (Cues::ONLY, "только лишь исключительно кроме"),
    (Cues::NOT, "не ни нет без нельзя ничего никто никаких"),
    (Cues::DONT, "нельзя запрещено запрещается не_трогай не_трогайте не_меняй не_меняйте не_меняем не_надо"),
    (Cues::MUST, "должен должна должно должны нужно надо необходимо обязательно следует"),
    (Cues::SHOULD, "хочу хотим хотелось предпочитаю лучше"),
    (Cues::IF, "если когда пока прежде перед после до"),
    (Cues::MAY, "можно можете можешь разрешаю разрешено одобрено согласен необязательно"),
    (Cues::DECIDED, "решили решено договорились остаётся остается используем план правило"),
    (Cues::MEANS, "значит означает называется называем имею_в_виду"),
    (Cues::SELF, "меня_зовут я_работаю мой моя моё мои наш наша наши аллергия зовите"),
    (Cues::LIMIT, "максимум минимум не_более не_менее не_больше больше меньше более менее до_конца лимит предел"),
    (Cues::FORM, "отвечай отвечайте ответ ответы пиши пишите формат слов строк предложений букв таблица список"),
    (Cues::TONGUE, "по-русски по-английски по-немецки русском английском немецком испанском"),
    (Cues::ME, "мне меня нам нас"),
    (Cues::YOU, "ты вы вам тебе вас"),
    (
        Cues::DO,
        "используй используйте оставь оставьте спроси спросите спрашивай спрашивайте делай делайте пиши пишите отвечай отвечайте",
    ),
    (Cues::TASK, "покажи покажите найди найдите дай дайте сравни"),
    (Cues::CHANGE, "теперь больше_не снова опять вместо отныне впредь новый новая"),
    (Cues::DROP, "больше_не забудь забудьте больше_не_нужно отменяется"),
    (Cues::ONCE, "на_этот_раз в_этот_раз сегодня пока_что"),
    (Cues::PAST, "был была было были"),
    (Cues::DOUBT, "может_быть наверное возможно думаю"),
    (Cues::ASK, "что кто где когда как почему сколько какой какая какие"),
    (Cues::SOURCE, "письмо сообщение статья страница документ"),
    (Cues::SAYS, "пишет сказал говорит написал"),
    (Cues::POLITE, "пожалуйста и но тогда"),
    (Cues::HELLO, "уважаемый уважаемая уважаемые дорогой дорогие здравствуйте привет"),
    (Cues::BYE, "с_уважением"),
    (Cues::IS, "есть это является"),
];

/// Parts of Japanese sentences.
pub const JAPANESE: &[(Cues, &str)] = &[
    (Cues::ALWAYS, "いつも 常に 必ず 絶対 決して 今後 これから 以後 以降 毎回 原則 ずっと"),
    (Cues::EACH, "すべて 全て 全部 どの 各 毎 誰も 何も"),
    (Cues::ONLY, "だけ のみ しか 以外"),
    (Cues::NOT, "ない ません ず、"),
    (
        Cues::DONT,
        "ないでください ないで下さい しないこと 禁止 てはいけ てはなら ては駄目 てはだめ やめてください ないように",
    ),
    (Cues::MUST, "なければ 必要 べき てください て下さい ること。 でお願いします をお願いします お願いします ましょう"),
    (Cues::SHOULD, "てほしい たい 希望 欲しい"),
    (Cues::IF, "場合 なら とき 時は 前に 先に たら ときは まで"),
    (
        Cues::MAY,
        "てもいい ても良い てよい てかまいません てもかまいません て構いません 大丈夫 許可 不要 なくていい なくても",
    ),
    (Cues::DECIDED, "決めました 決まりました ことにし にします のままに 決定 方針"),
    (Cues::MEANS, "とは と呼 という意味 を指し のことです"),
    (Cues::SELF, "私は 私の うちの アレルギー 我々 わたし"),
    (Cues::LIMIT, "以内 以上 以下 未満 まで 最大 最小 上限 超え"),
    (Cues::FORM, "答え 回答 書い 返事 要約 文で 行で 形式 敬語 表記 単位"),
    (Cues::TONGUE, "日本語 英語 ドイツ語 スペイン語 フランス語 中国語 ポルトガル語 ロシア語"),
    (Cues::CHANGE, "今から これから もう やはり 代わり 変更 新しい"),
    (Cues::DROP, "もう 不要 忘れて 取り消"),
    (Cues::ONCE, "今回だけ 今回は 今日だけ 一度だけ とりあえず"),
    (Cues::PAST, "でした ました。 かった。"),
    (Cues::ASK, "ですか ますか 何です どこ いつ なぜ"),
];

/// Parts of Chinese sentences.
pub const CHINESE: &[(Cues, &str)] = &[
    (Cues::ALWAYS, "总是 一律 始终 永远 从现在起 从现在开始 以后 今后 从今天 每次 绝不 务必 一定 默认"),
    (Cues::EACH, "所有 每个 每次 每条 每一 任何 全部 凡是 都"),
    (Cues::ONLY, "只 仅 除非 除了 唯一"),
    (Cues::NOT, "不 没 无需 别"),
    (Cues::DONT, "不要 不得 不能 不可 禁止 请勿 别再 不许 切勿 不准"),
    (Cues::MUST, "必须 需要 应当 要求 请 得先 应该"),
    (Cues::SHOULD, "希望 想要 最好 我要"),
    (Cues::IF, "如果 若 当 之前 先 以前 除非 一旦 时候"),
    (Cues::MAY, "可以 允许 批准 同意 无需 不必 没问题 不用"),
    (Cues::DECIDED, "决定 定了 商定 改为 保持 采用 就用 规定"),
    (Cues::MEANS, "是指 指的是 意思是 叫做 称为 就是"),
    (Cues::SELF, "我是 我叫 我的 我们的 过敏 叫我"),
    (Cues::LIMIT, "最多 最少 至少 不超过 以内 以上 以下 超过 上限 以下 之内"),
    (Cues::FORM, "回答 回复 写 格式 句 字 行 单位 报告 总结 摘要 表格"),
    (Cues::TONGUE, "中文 英文 英语 德语 西班牙语 法语 日语 葡萄牙语 俄语"),
    (Cues::CHANGE, "现在 改为 不再 重新 改成 恢复 新的"),
    (Cues::DROP, "不再 不用再 不必再 取消 忘掉 作废"),
    (Cues::ONCE, "这次 这一次 今天 暂时"),
    (Cues::PAST, "了。 过了"),
    (Cues::ASK, "吗 什么 哪 怎么 为什么 多少 几"),
];
