//! English words by what they tell. Own composition, after the closed classes of the grammar: quantifiers, modals, conjunctions,
//! adverbs of time, verbs of saying and of ordering.

use super::cues::Cues;
use super::word::Word;

/// Words that tell the language of a sentence: articles, pronouns, auxiliaries, prepositions.
pub const COMMON: &str = "the a an of to and in is it you that was for on are with as i be this have from or by not but what all \
    were we when your can there which do how if will my no me our they only don't i'm it's at so";

/// Words and phrases by cue; `_` joins the words of a phrase.
pub const CUES: &[(Cues, &str)] = &[
    (
        Cues::ALWAYS,
        "always never ever at_all_times without_exception without_exceptions every_time each_time from_now_on from_here_on \
         from_today_on from_then_on from_this_point_on as_of_now as_of_today starting_now starting_today going_forward \
         moving_forward henceforth in_future in_the_future as_a_rule by_default until_further_notice at_any_time \
         under_any_circumstances under_no_circumstances on_no_account in_no_case no_matter permanently consistently \
         throughout for_good for_ever forever for_the_rest",
    ),
    (
        Cues::EACH,
        "every each any all whenever wherever whatever whichever whoever everyone everybody everything everywhere anybody \
         anyone anything anywhere nothing nobody nowhere none no_one mondays tuesdays wednesdays thursdays fridays saturdays \
         sundays weekends weekdays mornings evenings nights holidays daily weekly monthly nightly yearly a_day a_week a_month",
    ),
    (
        Cues::ONLY,
        "only solely exclusively nothing_but nothing_else nobody_else nowhere_else no_one_else except strictly",
    ),
    (
        Cues::NOT,
        "not no nor neither nothing nobody nowhere none without no_longer isn't aren't doesn't won't wouldn't wasn't no_one",
    ),
    (
        Cues::DONT,
        "don't do_not never mustn't must_not may_not shall_not should_not shouldn't cannot can't off_limits hands_off \
         forbidden prohibited not_allowed read-only out_of_bounds taboo no-go refrain avoid keep_out stay_out stays_out stay_away \
         leave_alone stop",
    ),
    (
        Cues::MUST,
        "must have_to has_to need_to needs_to needs required requires require mandatory shall ought_to obligatory compulsory \
         is_to are_to supposed_to we_decided i_decided we've_decided i've_decided we_agreed make_sure_that be_sure_that ensure remember keep_in_mind bear_in_mind note_that insist",
    ),
    (
        Cues::SHOULD,
        "should want wants i'd_like we'd_like would_like prefer prefers preferred i'd_prefer would_rather i'd_rather \
         expect expects wish wishes like_to likes i_like we_like i_love we_love i_hate hate hates before_we before_you before_i \
         before_they",
    ),
    (
        Cues::IF,
        "if when whenever unless until till before once as_soon_as as_long_as so_long_as in_case after where provided while \
         except_when except_if only_if",
    ),
    (
        Cues::MAY,
        "can may free_to feel_free go_ahead approved allowed permitted is_fine are_fine fine okay ok all_right alright \
         good_enough welcome_to needn't need_not don't_have_to doesn't_have_to no_need don't_need doesn't_need \
         doesn't_matter don't_mind yourself without_asking green_light permission no_objection trust_you up_to_you acceptable",
    ),
    (
        Cues::DECIDED,
        "decided decide decision agreed settled we'll rule policy convention standard chosen chose the_plan_is new_plan \
         opted going_with go_with goes_with stick_to stick_with stays stay remains remain is_out are_out is_final \
         default concluded verdict we_go i_go ruled closed frozen cancelled is_off is_over the_new banned barred",
    ),
    (
        Cues::MEANS,
        "means mean meant stands_for short_for is_called are_called refers_to refer_to referring_to counts_as count_as known_as \
         aka alias abbreviation i_call we_call i_say we_say i_write we_write synonym definition defined in_my_notes \
         is_named are_named for_me for_us by_that",
    ),
    (
        Cues::SELF,
        "call_me my_name i'm_a i'm_an i'm_the i_am_a i_am_an i_am_the we_are_a we're_a i'm_only i'm_new i'm_not_a allergic belongs_to belong_to i_work i_use i_live i_speak i_read we_have \
         we_use i_have pronouns i_sign i_pay i_never i_always we_never we_always my_pronouns vegetarian vegan diabetic colour-blind color-blind left-handed deaf pregnant",
    ),
    (Cues::MINE, "my our mine ours i'm i_am we're we_are"),
    (
        Cues::NOW,
        "i_need i_really no_problem no_worries no_thanks i_think i_believe i_guess i_hope i_understand i_appreciate i_noticed i_wonder i_feel i_know i_suppose i_see i_had i_was let's let_us can't_wait looking_forward kindly proceed \
         i've i'll i_just i'd_like_to i_would_like_to i_want_to i'm_looking i'm_trying i'm_wondering i'm_thinking i'm_calling i'm_planning \
         i'm_considering i'm_working i'm_curious i'm_worried i'm_concerned i'm_happy i'm_glad i'm_excited i'm_sorry i'm_unsure i'm_not_sure \
         i'm_sure i'm_keen i_am_keen i_am_interested i_am_working i_am_determined i_recognize i_chose i_decided_to i'm_in i_filled i_set i'm_planning_to i'm_kinda i'm_ready i'm_gonna i'm_going i'm_hoping i'm_having i'm_getting i'm_interested i'm_also i'm_still kinda thanks \
         thank_you thank please_help help_me assist if_you_could could_you would_you can_you if_possible let_me_know sounds great awesome \
         unfortunately apologize apologies congratulations wow yeah",
    ),
    (
        Cues::LIMIT,
        "at_most at_least no_more_than not_more_than more_than less_than fewer_than longer_than shorter_than larger_than \
         higher_than lower_than greater_than maximum minimum max min limit limited ceiling capped cap or_more or_less or_fewer not_before later_than earlier_than latest deadline \
         enough not_more threshold quota not_over not_above",
    ),
    (
        Cues::PLACE,
        "up_to below under above over within beyond until till by around exceed exceeds longer shorter higher lower larger smaller",
    ),
    (
        Cues::FORM,
        "answer answers reply replies respond response responses write format formatted spell spelled round rounded decimals \
         decimal words sentence sentences paragraph paragraphs bullet bullets heading headings unit units metric imperial \
         lowercase uppercase lower-case upper-case capitals letters formal informal formally tone style markdown json csv html \
         emoji emojis comma commas currency euros dollars cents celsius fahrenheit kilometres kilometers miles summary \
         summaries numbered abbreviations exclamation plain footnotes signature sign address_me summarise summarize quote \
         quotes name names spelling date dates timestamps isbn",
    ),
    (
        Cues::TONGUE,
        "english german spanish french italian portuguese russian japanese chinese dutch polish turkish arabic korean swedish \
         danish norwegian finnish czech greek hindi hebrew ukrainian british american",
    ),
    (Cues::TOPIC, "limit limits ceiling cap quota threshold deadline budget rule policy plan maximum minimum"),
    (Cues::ME, "me i us"),
    (Cues::YOU, "you your yours yourself you're you've you'll"),
    (
        Cues::DO,
        "use keep leave ask tell let make put call treat assume prefer skip wait send mark add include exclude remove stick \
         speak sign say stop start begin stay take give show write answer reply respond explain list check run test ignore \
         forget remember note double-check confirm notify inform warn consult respect follow apply set assume convert \
         format name spell round translate quote cite mention describe refer address limit restrict allow accept reject \
         count compare sort group order prioritise prioritize store save delete archive copy move rename create open close \
         commit push merge deploy release publish post book buy pay charge refund cancel bill report log track attach \
         link wrap indent escape quote split join combine replace update change fix avoid do be have go come get bring hold work \
         print read return finish end stop switch turn lock unlock plan schedule choose pick select consider count draw \
         wake phone mail email text ring consult escalate forward document comment review approve sum drop cut trim shorten",
    ),
    (
        Cues::TASK,
        "show find list give get compare make look draft check run open summarise summarize read tell explain search draw plan \
         fix try see count write print describe add create switch turn book order send walk help have prepare compute \
         calculate fetch pull load start move put set take bring delete remove translate rename update merge upload download \
         explain repeat",
    ),
    (
        Cues::CHANGE,
        "from_now_on from_here_on from_today_on as_of_now as_of_today starting_now now instead again no_longer any_more \
         anymore any_longer back_to new changed change correction after_all replaces replaced revert reverted update meanwhile \
         turns_out switch_to",
    ),
    (
        Cues::DROP,
        "forget scratch disregard no_longer any_more anymore any_longer needn't don't_have_to doesn't_have_to no_need \
         don't_need doesn't_need doesn't_matter lifted revoked withdrawn never_mind called_off take_back is_over are_over",
    ),
    (
        Cues::ONCE,
        "this_time this_once just_once only_once just_this for_now just_now right_now for_the_moment this_one these_two \
         for_today today tonight as_an_exception one_time one-off one-time exceptionally the_next this_answer this_reply this_message \
         next_answer next_reply next_message next_one",
    ),
    (
        Cues::PAST,
        "was were had did wasn't weren't hadn't didn't went came got took gave told thought asked made found saw knew left \
         felt sat stood ran yesterday last_night last_week last_month last_year ago happened finished arrived brought bought sold spent lost broke",
    ),
    (
        Cues::DOUBT,
        "maybe perhaps i_think i_guess wonder wondering might probably possibly hope hopefully seems suppose not_sure",
    ),
    (
        Cues::ASK,
        "what which who whom whose why how where when is are was were do does did can could would will should may any",
    ),
    (
        Cues::SOURCE,
        "mail email letter message thread chat channel forum comment post page site website article notice note readme docs \
         document documentation manual wiki ticket issue log report newsletter announcement circular memo paper blog handbook \
         guide book file header supplier landlord vendor author spec specification advert leaflet poster contract transcript \
         slack fwd forwarded quote press reviewer",
    ),
    (
        Cues::SAYS,
        "says said wrote writes states stated claims claimed reads posted sent forwarded circulates answered replied announced \
         came copied pasted used_to_say is_said they_say people_say some_say received got asks suggests recommends quoting fyi for_your_information for_information \
         for_completeness no_reply_needed",
    ),
    (
        Cues::POLITE,
        "please so then also and but just kindly otherwise therefore okay ok well yes still generally instead now first \
         always only next one_thing by_the_way",
    ),
    (
        Cues::WONDERS,
        "i'm_wondering i_am_wondering i_was_wondering wondering_if wondering_how wondering_whether i'm_curious do_you_think \
         can_you_help could_you_help can_you_give can_you_suggest can_you_recommend could_you_suggest how_can_i how_can_we \
         how_should_i how_do_i what_should_i should_i",
    ),
    (Cues::HELLO, "dear hello hi hey greetings good_morning good_evening good_afternoon to_all to_whom attention"),
    (
        Cues::BYE,
        "kind_regards best_regards regards sincerely yours_sincerely best_wishes yours_faithfully cheers many_thanks_and",
    ),
    (
        Cues::IS,
        "is are goes go comes come stays belongs stands works has have gets get isn't aren't doesn't runs uses takes reads begins starts ends",
    ),
];

/// Speakers who tell what they can do, and whom questions ask about.
const SPEAKERS: &[&str] = &["i", "we", "he", "she"];
const ASKED: &[&str] = &["i", "we", "you", "he", "she", "they", "it"];
/// Words before "never" and "always" in what is told.
const TELLING: &[&str] =
    &["i've", "we've", "he's", "she's", "they've", "have", "has", "had", "can", "could", "was", "were", "been"];
/// Verbs of what a speaker has or knows at the moment.
const KNOWING: &[&str] =
    &["have", "know", "remember", "recall", "see", "think", "feel", "understand", "believe", "get", "seem", "really"];

/// Words between a speaker and what is said.
const ADVERBS: &[&str] = &["really", "just", "also", "still", "only", "actually", "simply", "certainly"];

/// Takes cues from words that mean something else where they stand: "May" is a month, "can you" asks, "I can" tells, "I've never"
/// tells, "I don't know" forbids nothing, "I must" and "go ahead with" are for now, "now check" changes nothing, "No, …" answers.
pub fn settle(sentence: &str, words: &mut [Word]) {
    for at in 0..words.len() {
        let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
        let said_before = words[..at].iter().rev().find(|word| !ADVERBS.contains(&word.text.as_str()));
        let before = said_before.map_or("", |word| word.text.as_str());
        let after = text(at + 1);
        let word = &words[at];
        let cues = match word.text.as_str() {
            "may" if word.is_name(sentence, at) || words.get(at + 1).is_some_and(Word::is_number) => Cues::default(),
            "remember" if at > 0 && !word.opens && !matches!(before, "please" | "and" | "to") => {
                word.cues.without(Cues::MUST.and(Cues::DO))
            }
            "must" if SPEAKERS.contains(&before) => word.cues.without(Cues::MUST),
            "go" if after == "ahead" && matches!(text(at + 2), "and" | "with") => Cues::NOW,
            "now" if words.get(at + 1).is_some_and(|word| word.cues.has(Cues::TASK)) => word.cues.without(Cues::CHANGE),
            "can" | "may" if SPEAKERS.contains(&before) || ASKED.contains(&after) => word.cues.without(Cues::MAY),
            "never" | "always" | "ever" if TELLING.contains(&before) => Cues::PAST,
            "don't" if SPEAKERS.contains(&before) && KNOWING.contains(&after) => {
                word.cues.without(Cues::DONT).and(Cues::NOW)
            }
            "no" if at == 0 && words.get(1).is_some_and(|word| word.opens) => word.cues.without(Cues::NOT),
            "for" if at > 0 && !word.opens => word.cues.without(Cues::MEANS),
            _ => continue,
        };
        words[at].cues = cues;
    }
}
