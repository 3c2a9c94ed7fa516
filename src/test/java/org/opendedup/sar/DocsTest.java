package org.opendedup.sar;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.sdfs.cli.command.ExitCode;

/**
 * The docs against the program: links lead somewhere; each command line, option, default, exit code, key of JSON and
 * class that a page names exists.
 */
@TestInstance(Lifecycle.PER_CLASS)
class DocsTest {
    private static final int MOST_WORDS = 25;
    /** The left column there has the spellings of another program. */
    private static final String THEIRS = "## Coming from OpenDedup SDFS";

    private static final Pattern OPTION = Pattern.compile("(--[a-z][a-z-]+)(=.*)?");
    private static final Pattern EXIT_CODE = Pattern.compile("[Ee]xit (?:code|status) (\\d+)");
    /** Of mount(8), and after Ctrl-C. */
    private static final Set<Integer> OTHER_EXIT_CODES = Set.of(32, 130);

    private static final Pattern WORD = Pattern.compile("\\w+");
    private static final Pattern KEY = Pattern.compile("[a-z]+([A-Z][a-z]+)+");
    private static final Pattern CLASS = Pattern.compile("[A-Z][a-z]+([A-Z][a-z]+)+");

    private static final List<String> SOURCES = List.of(
            "sar-core/src/main",
            "sar-s3/src/main",
            "sar-hdfs/src/main",
            "sdfs-care/src/main",
            "sdfs-integration/src/main",
            "sar-simulator/src/main",
            "sdfs-plugin/src/main");

    private final DocumentedCommands commands = new DocumentedCommands();
    private final Set<String> names = namesInSources();

    DocsTest() throws IOException, ReflectiveOperationException {}

    @Test
    void linksLeadSomewhere() throws IOException {
        List<DocsPage> pages = DocsPage.all(true);
        assertTrue(pages.size() > 60, "few pages are read");
        List<String> faults = new ArrayList<>();
        pages.forEach(page -> faults.addAll(badLinks(page)));
        assertEquals(List.of(), faults);
    }

    @Test
    void commandsAndTheirOptionsExist() throws Exception {
        List<String> faults = new ArrayList<>();
        for (DocsPage page : DocsPage.all(false)) {
            faults.addAll(badCommands(page.without(THEIRS)));
        }
        assertEquals(List.of(), faults);
    }

    @Test
    void defaultsAreThoseOfTheProgram() throws Exception {
        List<String> faults = new ArrayList<>();
        int compared = 0;
        for (DocsPage page : DocsPage.all(false)) {
            for (DocsPage.Row row : page.rows()) {
                compared += badDefaults(row, faults);
            }
        }
        assertEquals(List.of(), faults);
        assertTrue(compared >= 8, "few defaults are compared: " + compared);
    }

    @Test
    void mountOptionsExist() throws Exception {
        DocsPage page = DocsPage.of("docs/operations/mount.md");
        int options = 0;
        for (DocsPage.Row row : page.rows()) {
            List<String> names = DocsPage.spans(row.cells().get(0));
            if (row.header().get(0).equals("option") && !row.cells().get(0).startsWith("`--")) {
                for (String name : names) {
                    options++;
                    commands.checkMountOptions(name.replace("=SIZE", "=1GB")
                            .replaceFirst("=[N…]$", "=8")
                            .replace("x-…", "x-any")
                            .replace("=PORT", "=9141")
                            .replace("=ADDRESS:PORT", "=127.0.0.1:9141")
                            .replace("=GROUP", "=adm"));
                }
            }
        }
        assertTrue(options > 30, "few mount options are read: " + options);
    }

    @Test
    void exitCodesAreThoseOfTheProgram() throws Exception {
        Set<Integer> known = exitCodes();
        Set<Integer> listed = new TreeSet<>();
        for (DocsPage.Row row : DocsPage.of("docs/OPERATIONS.md").rows()) {
            if (row.header().get(0).equals("code")) {
                listed.add(Integer.valueOf(row.cells().get(0)));
            }
        }
        assertEquals(known, listed);
        List<String> faults = new ArrayList<>();
        for (DocsPage page : DocsPage.all(false)) {
            faults.addAll(badExitCodes(page, known));
        }
        assertEquals(List.of(), faults);
    }

    @Test
    void keysAndClassesExist() throws IOException {
        List<String> faults = new ArrayList<>();
        for (DocsPage page : DocsPage.all(false)) {
            if (page.name().startsWith("docs/operations/") || page.name().endsWith("SAR.md")) {
                faults.addAll(missing(page, KEY));
            }
            if (page.name().matches("docs/(ARCHITECTURE|PLUGIN|operations/.*)\\.md")) {
                faults.addAll(missing(page, CLASS));
            }
            for (DocsPage.Row row : page.rows()) {
                if (row.header().get(0).startsWith("key of `")) {
                    DocsPage.spans(row.cells().get(0)).stream()
                            .filter(key -> !names.contains(key))
                            .forEach(key -> faults.add(page.name() + ": no key " + key));
                }
            }
        }
        assertEquals(List.of(), faults);
    }

    @Test
    void variablesOfTheEnvironmentAreRead() throws IOException {
        List<String> faults = new ArrayList<>();
        int variables = 0;
        for (DocsPage page : DocsPage.all(false)) {
            for (DocsPage.Row row : page.rows()) {
                if (row.header().get(0).equals("variable")) {
                    variables++;
                    faults.addAll(badVariable(row));
                }
            }
        }
        assertEquals(List.of(), faults);
        assertTrue(variables > 8, "few variables are read: " + variables);
    }

    @Test
    void decisionsHaveAStatusAndARow() throws IOException {
        List<String> rows = DocsPage.of("docs/adr/README.md").links();
        List<DocsPage> decisions = DocsPage.all(true).stream()
                .filter(page -> page.name().startsWith("docs/adr/0"))
                .toList();
        assertTrue(decisions.size() > 60, "few decisions are read");
        assertEquals(List.of(), badDecisions(decisions, rows));
    }

    @Test
    void tablesOfOperationsHaveShortCells() throws IOException {
        List<String> faults = new ArrayList<>();
        for (DocsPage page : DocsPage.all(false)) {
            if (page.name().contains("perations")) {
                page.rows().forEach(row -> faults.addAll(longCells(row)));
            }
        }
        assertEquals(List.of(), faults);
    }

    @Test
    void controlWhatIsWrongIsFound() throws Exception {
        for (String wrong : List.of(
                "    sdfscli pool0 gc --wiat",
                "    sdfscli pool0 garbage",
                "    scripts/sdfscli pool0 gc set --paused=maybe",
                "    mkfs.sdfs --volume-name=pool0 \\\n      --volume-size=1TB",
                "    mount.sdfs -o noatmie pool0 /mnt",
                "    sdfs-check pool0 --mend",
                "    sar-sim estimate --memry=1GB .",
                "call `scrub start --now`",
                "the option `--sar-treshold=5`")) {
            assertFalse(badCommands(page(wrong)).isEmpty(), wrong);
        }
        String right = "    sdfscli pool0 gc --wait   # --not-read\n`sdfscli VOLUME gc set --rate=20`, `--json`";
        assertEquals(List.of(), badCommands(page(right)));
        List<String> faults = new ArrayList<>();
        page("| mkfs.sdfs | default |\n|---|---|\n| `--tddfs-high` | 84 |")
                .rows()
                .forEach(row -> badDefaults(row, faults));
        page("| option | means |\n|---|---|\n| `--tddfs-high=84`, `--tddfs-low=70` | use |")
                .rows()
                .forEach(row -> badDefaults(row, faults));
        assertEquals(2, faults.size(), faults::toString);
        String variables = "| variable | means | default |\n|---|---|---|\n";
        for (String wrong : List.of("| `SDFS_NO_SUCH` | – | – |", "| `SDFS_CHECK_HEAP` | heap | `2g` |")) {
            assertEquals(1, badVariable(page(variables + wrong).rows().get(0)).size(), wrong);
        }
        assertEquals(
                2,
                badDecisions(List.of(page("# A decision\n\n## Context")), List.of())
                        .size());
        assertEquals(1, badExitCodes(page("ends with exit code 9"), exitCodes()).size());
        assertEquals(
                3,
                badLinks(page("[a](NO.md) [b](README.md#no) [c](#no) [d](README.md) [e](#h)\n# H"))
                        .size());
        assertEquals(1, missing(page("`noSuchFigure` `storedBytes`"), KEY).size());
        assertEquals(
                1, missing(page("`NoSuchClassAtAll` `ContainerStore`"), CLASS).size());
    }

    private static DocsPage page(String text) {
        return new DocsPage("README.md", List.of(text.split("\n")));
    }

    private static List<String> badLinks(DocsPage page) {
        List<String> faults = new ArrayList<>();
        for (String link : page.links()) {
            String file = link.replaceFirst("#.*", "");
            String anchor = link.contains("#") ? link.replaceFirst(".*#", "") : "";
            Path target = Path.of(page.name()).resolveSibling(file).normalize();
            boolean exists = Files.exists(Commands.projectFolder().resolve(target));
            DocsPage there =
                    file.isEmpty() ? page : exists && file.endsWith(".md") ? DocsPage.of(target.toString()) : null;
            if (!exists
                    || !anchor.isEmpty() && there != null && !there.anchors().contains(anchor)) {
                faults.add(page.name() + ": " + link + " leads nowhere");
            }
        }
        return faults;
    }

    private List<String> badCommands(DocsPage page) {
        List<String> faults = new ArrayList<>();
        // Commands of OpenDedup SDFS are called by the path.
        page.blocks().stream()
                .filter(line -> !line.startsWith("/sbin/"))
                .forEach(line -> faults.addAll(commands.faults(line, false)));
        page.spans().forEach(span -> faults.addAll(commands.faults(span, true)));
        faults.replaceAll(fault -> page.name() + ": " + fault);
        for (String span : page.spans()) {
            Matcher option = OPTION.matcher(span);
            if (option.matches() && !commands.hasOption(option.group(1))) {
                faults.add(page.name() + ": nothing has an option " + option.group(1));
            }
        }
        return faults;
    }

    /** Returns how many defaults it compared. */
    private int badDefaults(DocsPage.Row row, List<String> faults) {
        int compared = 0;
        int column = row.header().indexOf("default");
        boolean inName = row.header().subList(0, 2).equals(List.of("option", "means"));
        for (String span : DocsPage.spans(row.cells().get(0))) {
            Matcher option = OPTION.matcher(span);
            if (!option.matches()) {
                continue;
            }
            String said = column > 0
                    ? row.cells().get(column).replace("`", "")
                    : inName && option.group(2) != null ? option.group(2).substring(1) : "";
            String known = commands.defaultOf(option.group(1));
            // Words, alternatives and names in capitals tell more than a default.
            if (known != null && said.matches("[a-z0-9:.-]+([KMGT]B)?")) {
                compared++;
                if (!said.equals(known)) {
                    faults.add(span + " has the default " + known + ", not " + said);
                }
            }
        }
        return compared;
    }

    private List<String> badVariable(DocsPage.Row row) {
        String name = DocsPage.spans(row.cells().get(0)).get(0);
        if (!names.contains(name) && !commands.scripts().contains(name)) {
            return List.of("nothing reads " + name);
        }
        Matcher known = Pattern.compile(name + ":-([^}\"]+)}").matcher(commands.scripts());
        String said = row.cells().get(row.cells().size() - 2);
        return row.header().contains("default")
                        && known.find()
                        && !said.contains(known.group(1).replace("$HOME", "~"))
                ? List.of(name + " has the default " + known.group(1) + ", not " + said)
                : List.of();
    }

    private static List<String> badDecisions(List<DocsPage> decisions, List<String> rows) {
        List<String> faults = new ArrayList<>();
        for (DocsPage page : decisions) {
            if (page.lines().stream().noneMatch(line -> line.startsWith("Status: "))) {
                faults.add(page.name() + " has no status");
            }
            if (!rows.contains(page.name().replaceFirst(".*/", ""))) {
                faults.add(page.name() + " has no row in the index");
            }
        }
        return faults;
    }

    private static List<String> badExitCodes(DocsPage page, Set<Integer> known) {
        List<String> faults = new ArrayList<>();
        for (String line : page.lines()) {
            EXIT_CODE.matcher(line).results().forEach(code -> {
                int number = Integer.parseInt(code.group(1));
                if (!known.contains(number) && !OTHER_EXIT_CODES.contains(number)) {
                    faults.add(page.name() + ": " + code.group());
                }
            });
        }
        return faults;
    }

    private static Set<Integer> exitCodes() throws IllegalAccessException {
        Set<Integer> codes = new TreeSet<>();
        for (Field field : ExitCode.class.getFields()) {
            codes.add(field.getInt(null));
        }
        return codes;
    }

    private List<String> missing(DocsPage page, Pattern pattern) {
        return page.spans().stream()
                .filter(span -> pattern.matcher(span).matches() && !span.endsWith("Test") && !isName(span))
                .map(span -> page.name() + ": nothing is called " + span)
                .distinct()
                .toList();
    }

    /** Returns whether the program has a name, maybe that of a component of a record, which JMX has with a capital. */
    private boolean isName(String text) {
        return names.contains(text)
                || names.contains(text.substring(0, 1).toLowerCase(Locale.ROOT) + text.substring(1));
    }

    private static List<String> longCells(DocsPage.Row row) {
        return row.cells().stream()
                .filter(cell -> cell.replaceAll("\\]\\([^)]*\\)", "]").split("\\s+").length > MOST_WORDS)
                .toList();
    }

    /** Returns the words of all sources without their comments; of getters also the names of what they return. */
    private static Set<String> namesInSources() throws IOException {
        Set<String> names = new HashSet<>();
        for (String folder : SOURCES) {
            try (Stream<Path> files = Files.walk(Commands.projectFolder().resolve(folder))) {
                for (Path file : files.filter(path -> path.toString().matches(".*\\.(java|properties)"))
                        .toList()) {
                    addNames(Files.readString(file).replaceAll("(?s)/\\*.*?\\*/", ""), names);
                }
            }
        }
        return names;
    }

    private static void addNames(String code, Set<String> names) {
        WORD.matcher(code).results().map(MatchResult::group).forEach(word -> {
            names.add(word);
            int prefix = word.startsWith("get") ? 3 : word.startsWith("is") ? 2 : 0;
            if (prefix > 0 && word.length() > prefix) {
                names.add(word.substring(prefix, prefix + 1).toLowerCase(Locale.ROOT) + word.substring(prefix + 1));
            }
        });
    }
}
