package org.opendedup.sar;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.opendedup.sar.disks.Commands;

/**
 * The tables of docs/PARTS.md: each part is a class of that package, each benchmark exists and each has a row; each
 * library that is shipped has a row, and the modules of the row name its package.
 */
@TestInstance(Lifecycle.PER_CLASS)
class PartsTest {
    private static final List<String> MODULES =
            List.of("sar-core", "sar-s3", "sar-hdfs", "sdfs-care", "sdfs-integration", "sar-simulator", "sdfs-plugin");
    private static final String NOTHING = "–";
    private static final Pattern DEPENDENCY = Pattern.compile(
            "<dependency>.*?<groupId>(.*?)</groupId>\\s*<artifactId>(.*?)</artifactId>(.*?)</dependency>",
            Pattern.DOTALL);

    /** Lines by module that import something or name a class of a setting. */
    private final Map<String, List<String>> uses = new HashMap<>();

    /** What the page says of a library. */
    private record Library(String name, String packageName, List<String> modules) {
        static Library of(DocsPage.Row row) {
            List<String> modules = DocsPage.spans(row.cells().get(2));
            return new Library(
                    DocsPage.spans(row.cells().get(0)).get(0),
                    row.cells().get(1).replace("`", ""),
                    modules.isEmpty() ? MODULES : modules);
        }
    }

    @Test
    void eachPartExistsUnderItsName() throws IOException {
        List<DocsPage.Row> rows = rows(DocsPage.of("docs/PARTS.md"), "part");
        assertTrue(rows.size() > 20, "few parts are read: " + rows.size());
        assertEquals(List.of(), badParts(rows));
    }

    @Test
    void eachBenchmarkHasARow() throws IOException {
        Set<String> named = new TreeSet<>();
        rows(DocsPage.of("docs/PARTS.md"), "part")
                .forEach(row -> named.addAll(DocsPage.spans(row.cells().get(4))));
        assertEquals(BenchmarksTest.names(), named);
    }

    @Test
    void eachShippedLibraryHasARowAndIsUsed() throws IOException {
        List<Library> libraries = libraries(DocsPage.of("docs/PARTS.md"));
        assertTrue(libraries.size() > 15, "few libraries are read: " + libraries.size());
        assertEquals(List.of(), badLibraries(libraries));
    }

    @Test
    void controlWhatIsWrongIsFound() throws IOException {
        String parts = "| part | class | package | from | benchmark |\n|---|---|---|---|---|\n";
        for (String wrong : List.of(
                "| a | `NoSuchPart` | `org.opendedup.sar.ssd` | | – |",
                "| a | `MapTable` | `org.opendedup.sar.hot` | | – |",
                "| a | `MapTable` | `org.opendedup.sar.ssd` | | `NoBenchmark` |",
                "| a | `MapTable` | `org.opendedup.sar.ssd` | | |")) {
            assertEquals(1, badParts(rows(page(parts + wrong), "part")).size(), wrong);
        }
        List<Library> right = libraries(DocsPage.of("docs/PARTS.md"));
        for (String wrong : List.of(
                "| `org.apache.commons:commons-lang3` | `org.apache.commons.lang3` | `sar-core` | |",
                "| `com.google.guava:guava` | `com.google.common` | `sdfs-care` | |",
                "| `com.google.guava:guava` | – | `sar-core` | |")) {
            List<Library> changed = new ArrayList<>(right);
            changed.addAll(libraries(page("| library | package | imported in | why |\n|---|---|---|---|\n" + wrong)));
            assertEquals(1, badLibraries(changed).size(), wrong);
        }
        assertEquals(
                List.of(right.get(0).name() + " has no row"),
                badLibraries(right.subList(1, right.size())),
                "a library without a row");
    }

    private static DocsPage page(String text) {
        return new DocsPage("docs/PARTS.md", List.of(text.split("\n")));
    }

    private static List<DocsPage.Row> rows(DocsPage page, String first) {
        return page.rows().stream()
                .filter(row -> row.header().get(0).equals(first))
                .toList();
    }

    private static List<Library> libraries(DocsPage page) {
        return rows(page, "library").stream().map(Library::of).toList();
    }

    // --- parts ---

    private static List<String> badParts(List<DocsPage.Row> rows) throws IOException {
        Set<String> benchmarks = BenchmarksTest.names();
        List<String> faults = new ArrayList<>();
        for (DocsPage.Row row : rows) {
            String name = row.cells().get(1).replace("`", "");
            String file = row.cells().get(2).replace("`", "").replace('.', '/') + "/" + name + ".java";
            if (MODULES.stream()
                    .noneMatch(module -> Files.exists(sources(module).resolve("java/" + file)))) {
                faults.add("there is no " + file);
            }
            String benchmark = row.cells().get(4).replace("`", "");
            if (!benchmark.equals(NOTHING) && !benchmarks.contains(benchmark)) {
                faults.add(name + " has no benchmark " + benchmark);
            }
        }
        return faults;
    }

    private static Path sources(String module) {
        return Commands.projectFolder().resolve(module).resolve("src/main");
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().matches(".*\\.(java|xml)"))
                    .toList();
        }
    }

    // --- libraries ---

    private List<String> badLibraries(List<Library> libraries) throws IOException {
        Map<String, String> shipped = shipped();
        List<String> faults = new ArrayList<>();
        for (Library library : libraries) {
            String scope = shipped.get(library.name());
            if (scope == null) {
                faults.add(library.name() + " is not shipped");
            } else if (library.packageName().equals(NOTHING) != scope.equals("runtime")) {
                faults.add(library.name() + " has the scope " + scope);
            } else if (!scope.equals("runtime")) {
                for (String module : library.modules()) {
                    if (!uses(module, library.packageName())) {
                        faults.add(module + " does not use " + library.packageName());
                    }
                }
            }
        }
        for (String name : new TreeSet<>(shipped.keySet())) {
            if (libraries.stream().noneMatch(library -> library.name().equals(name))) {
                faults.add(name + " has no row");
            }
        }
        return faults;
    }

    /** Returns the libraries of others that modules ship, with their scopes: compile or runtime. */
    private static Map<String, String> shipped() throws IOException {
        List<String> poms = new ArrayList<>();
        for (String module : MODULES) {
            poms.add(Files.readString(Commands.projectFolder().resolve(module).resolve("pom.xml")));
        }
        String root = Files.readString(Commands.projectFolder().resolve("pom.xml"));
        // What all modules have: the dependencies below those that are only managed.
        poms.add(root.replaceFirst("(?s)<dependencyManagement>.*?</dependencyManagement>", ""));
        Map<String, String> found = new HashMap<>();
        for (String pom : poms) {
            Matcher dependency = DEPENDENCY.matcher(pom.replaceAll("(?s)<!--.*?-->|<plugins>.*?</plugins>", ""));
            while (dependency.find()) {
                String rest = dependency.group(3);
                boolean isOurs = dependency.group(1).matches("org\\.opendedup.*|\\$\\{project.*");
                if (!isOurs && !rest.contains("<scope>test") && !rest.contains("<scope>provided")) {
                    String scope = rest.contains("<scope>runtime") ? "runtime" : "compile";
                    found.put(dependency.group(1) + ":" + dependency.group(2), scope);
                }
            }
        }
        return found;
    }

    /** Returns whether a module's sources import a package, or its settings name a class of it. */
    private boolean uses(String module, String packageName) throws IOException {
        if (!uses.containsKey(module)) {
            List<String> lines = new ArrayList<>();
            for (Path file : files(sources(module))) {
                Files.readAllLines(file).stream()
                        .filter(line -> line.startsWith("import ") || line.contains("class=\""))
                        .forEach(lines::add);
            }
            uses.put(module, lines);
        }
        Pattern use = Pattern.compile("(import |import static |.*class=\")" + Pattern.quote(packageName) + "\\..*");
        return uses.get(module).stream().anyMatch(line -> use.matcher(line).matches());
    }
}
