package lexical

import (
	"slices"
	"strings"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
)

// Language is a language with stemming. Text in any other language is treated as one of these, by default as English.
type Language uint8

// If two languages are equally likely, LanguageOf returns the first of them.
const (
	English Language = iota
	German
	French
	Spanish
	Italian
	Portuguese
	Dutch
	Swedish
	Russian
	Languages // number of languages
)

var stemmers = [Languages]func(*snowballstem.Env) bool{
	english.Stem, german.Stem, french.Stem, spanish.Stem, italian.Stem, portuguese.Stem, dutch.Stem, swedish.Stem, russian.Stem,
}

// sampleSize is the number of bytes from which the language of a text is determined.
const sampleSize = 1000

// LanguageOf returns the language with the most stop words at the beginning of text.
func LanguageOf(text string) Language {
	text = text[:min(len(text), sampleSize)]
	var found [Languages]int
	for kind, part := range parts(text) {
		if kind != ofWord {
			continue
		}
		set := stopWords[strings.ToLower(part)]
		for l := range Languages {
			if set&(1<<l) != 0 {
				found[l]++
			}
		}
	}
	return Language(slices.Index(found[:], slices.Max(found[:])))
}

func IsStop(word string, in Language) bool { return stopWords[word]&(1<<in) != 0 }

// stopWords maps each stop word to a bit set of the languages in which it is a stop word.
var stopWords = wordSets([Languages]string{
	English: `a about above after again against all almost along already also although always am among an and another any anybody
anyone anything are aren't around as at away back be became because become been before behind being below between both but by came can can't
cannot come could couldn't did didn't do does doesn't doing don't done down during each either else enough even ever every everyone everything
few first for from further get gets getting give given go goes going gone got had hadn't has hasn't have haven't having he her here hers herself
him himself his how however i i'd i'll i'm i've if in instead into is isn't it it's its itself just keep kept last least less let let's like
little long made make makes making many may maybe me might mine more most much must my myself need needs never next no nobody none nor not
nothing now of off often on once one ones only onto or other others our ours ourselves out over own per perhaps put quite rather really same
said say says see seem seems seen several shall she should shouldn't since so some somebody someone something sometimes soon still such take
taken takes than that that's the their theirs them themselves then there there's these they they'd they'll they're they've thing things this
those though three through thus till to together too took toward towards two under until up upon us use used uses using usually very want wants
was wasn't way we we'd we'll we're we've well went were weren't what what's when where whether which while who whole whom whose why will with
within without won't would wouldn't yet you you'd you'll you're you've your yours yourself`,
	German: `ab aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin bis bist brauche bräuchte da dabei dadurch dafür
dagegen daher damit danach dann daran darauf daraus darf dürfen darin darüber darum das dass davon davor dazu dein deine dem den denn der deren des deshalb dessen
die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines einige er es etwa etwas euch euer für ganz gar gegen gewesen gibt
habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im immer in ins ist ja jede jedem jeden jeder jedes jetzt kann kannst kein
keine keinem keinen keiner können könnte lange machen macht man manche mehr mein meine meinem meinen meiner mich mir mit muss musste müssen nach nicht nichts noch nun nur ob
oder ohne schon sehr sein seine seinem seinen seiner seit sich sie sind so sollen soll sollte sollten sondern sonst über um und uns unser unsere unserem unseren unserer
unter viel vom von vor wann war waren warum was weil welche welchem welchen welcher welches wenn wer werde werden weshalb wie wieder wieso will wir wird wo woher wohin wollen
worden wurde wurden würde während zu zum zur zwar zwischen`,
	French: `à afin ai alors après as au aucun aussi autre autres aux avait avant avec avoir c'est ça ce cela celle celui ces cet cette ceux chaque chez comme comment
dans de depuis des dois doit donc dont du elle elles en encore entre est et étaient était été être eu eux fait faire faut il ils je jusque l'on la là le les leur leurs lui ma mais me même
mes moi mon n'est ne ni nos notre nous on ont ou où par parce pas pendant peu peut peuvent plus pour pourquoi quand que quel quelle quelles quels qu'il qui quoi sa sans se sera ses si
son sont sous sur ta te tes toi ton tous tout toute toutes très tu un une vers vos votre vous y`,
	Spanish: `a al algo algún alguna algunos ante antes aquí así aun aunque cada casi como cómo con contra cual cuál cuáles cuando cuándo de debe debo del desde donde dónde dos durante e
el él ella ellas ellos en entre era eran es esa ese eso esta está están estar este esto estos fue fueron ha había hace hacer han hasta hay he la las le les lo los más me mi mis mucho muy nada ni no nos
nosotros nuestra nuestro o os otra otro para pero poco por porque puede puedo pues que qué quien quién se sea según ser si sí sido sin sobre solo son soy su sus también tan tanto te tiene tienen toda
todo todos tu tus un una uno unos usted y ya yo`,
	Italian: `a ad agli ai al alla alle allo anche avere aveva c'è che chi ci ciò come con contro cosa così da dai dal dalla dalle dei del della delle dello deve devo di dopo dove due e è ed era erano essere fa fare fino fra gli
ha hai hanno ho i il in io la le lei lo loro lui ma me mentre mi mia mie miei mio molto ne negli nei nel nella nelle no noi non nostra nostro o ogni per perché però più poco poi prima può qual quale quali quando quanto
quella quelle quelli quello questa queste questi questo qui se sei senza si sia siamo sono sopra sotto stata stato su sua sue sul sulla suo tra tu tua tuo tutti tutto un una uno vi voi`,
	Portuguese: `a ao aos aquela aquele as até cada com como da das de dela dele depois deve do dos e é ela elas ele eles em entre era essa esse esta está estão este eu foi foram há isso isto já la lhe mais mas me mesmo
meu minha muito na nas não nem no nos nós nossa nosso num numa o onde os ou para pela pelas pelo pelos por porque posso pode qual quando quanto que quem se sem ser seu seus sobre só sua suas são também tem têm tenho ter teu
toda todo todos tu um uma você vocês`,
	Dutch: `aan al alle alles als altijd ben bij daar dan dat de deze die dit doen door dus een eens en er ge geen geweest haar had hadden heb hebben heeft hem het hier hij hoe hun ik in is ja je jij jouw kan kon kunnen maar me
meer men met mij mijn moet moeten na naar niet niets nog nu of om omdat onder ons onze ook op over reeds te tegen toch toen tot u uit uw van veel voor waar waarom wanneer want waren was wat we wel welke werd wie wij wil word worden
wordt zal ze zelf zich zij zijn zo zonder zou`,
	Swedish: `alla allt att av bara blev bli blir de dem den denna deras dess det detta dig din dina du där då efter ej eller en er ett från får för ha hade han hans har henne hennes här hon honom hur i icke ingen inom inte jag ju kan kunde
man med mellan men mig min mina mitt mot mycket måste ni nu när någon något några och om oss på samma sedan sig sin sina sitt ska skall skulle som så sådan till under upp ut utan vad var vara varför varit varje vars vem vi vid vilka vilken
vilket vill vår våra än är åt över`,
	Russian: `а без более больше был была были было быть в вам вас весь во вот все всего всех вы где да даже для до его ее её если есть ещё еще же за здесь и из или им их к как какая какой когда кто ли либо мне может можно мой мы на над надо
нам нас не него нее нет ни них но ну о об однако он она они оно от очень по под после потому при про с сам свой себя со так также такой там те тем то того тоже той только том ты у уже чего чей чем что чтобы чьё эта эти это этого этой этот я`,
})

// stopPairs has pairs of Japanese characters that say nothing about the subject.
var stopPairs = func() map[string]bool {
	set := make(map[string]bool)
	for pair := range strings.FieldsSeq(`ある いる いた いて する して した しな され せる です ます まし ませ せん でき きる から まで より では には とは にも でも ても ため こと もの とき
たら なら れば ない なか なく なる なっ って った てい とい いう いう よう うな うに うち など だけ ので のに のは のが のを れる られ れた れて たい たく くて けど ほど この その あの どの これ それ どれ どう ここ そこ どこ
だっ たり てく くだ ださ さい おく てお へは への がい があ はな しま すか るか のか かな なに いつ だれ るに るの るよ たの にす にな をす はど どん んな すれ るこ たこ るた たと きの きに うの うか いの いと いに`) {
		set[pair] = true
	}
	return set
}()

func wordSets(words [Languages]string) map[string]uint16 {
	sets := make(map[string]uint16)
	for l, list := range words {
		for w := range strings.FieldsSeq(list) {
			sets[w] |= 1 << l
		}
	}
	return sets
}
