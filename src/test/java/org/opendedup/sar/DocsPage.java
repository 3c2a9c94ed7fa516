package org.opendedup.sar;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.opendedup.sar.disks.Commands;

/**
 * A page of the docs.
 *
 * @param name path from the project's folder, or any name
 * @param lines its text
 */
record DocsPage(String name, List<String> lines) {
    /** A row of a table, below its header. */
    record Row(List<String> header, List<String> cells) {}

    private static final Pattern SPAN = Pattern.compile("`([^`]+)`");
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
    private static final Pattern ID = Pattern.compile("id=\"([^\"]+)\"");

    static DocsPage of(String name) {
        try {
            return new DocsPage(
                    name, Files.readAllLines(Commands.projectFolder().resolve(name)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Reads all pages; the decisions in docs/adr only if they are asked for: they tell what was so once. */
    static List<DocsPage> all(boolean withDecisions) throws IOException {
        Path project = Commands.projectFolder();
        List<DocsPage> pages = new ArrayList<>();
        for (Path folder : List.of(project, project.resolve("docs"), project.resolve("src/test"))) {
            try (Stream<Path> files = folder.endsWith("docs") ? Files.walk(folder) : Files.list(folder)) {
                files.filter(file -> file.toString().endsWith(".md"))
                        .map(file -> project.relativize(file).toString())
                        .filter(file -> withDecisions || !file.contains("/adr/") && !file.equals("CHANGELOG.md"))
                        .sorted()
                        .forEach(file -> pages.add(of(file)));
            }
        }
        return pages;
    }

    /** Returns the page without the part below a heading, down to the next one of that level. */
    DocsPage without(String heading) {
        int from = lines.indexOf(heading);
        if (from < 0) {
            return this;
        }
        String level = heading.substring(0, heading.indexOf(' ') + 1);
        int to = from + 1;
        while (to < lines.size() && !lines.get(to).startsWith(level)) {
            to++;
        }
        return new DocsPage(
                name,
                Stream.concat(lines.subList(0, from).stream(), lines.subList(to, lines.size()).stream())
                        .toList());
    }

    /** Returns the lines of blocks of commands, without comments; a line that goes on is joined with the next one. */
    List<String> blocks() {
        List<String> found = new ArrayList<>();
        String begun = "";
        for (String line : lines) {
            if (!line.startsWith("    ")) {
                begun = "";
                continue;
            }
            String text = begun + line.strip().replaceFirst("(^|\\s+)#(\\s.*|$)", "");
            boolean goesOn = text.endsWith("\\");
            begun = goesOn ? text.substring(0, text.length() - 1) : "";
            if (!goesOn && !text.isBlank()) {
                found.add(text);
            }
        }
        return found;
    }

    /** Returns what stands between backticks outside of blocks. */
    List<String> spans() {
        return lines.stream()
                .filter(line -> !line.startsWith("    "))
                .flatMap(line -> spans(line).stream())
                .toList();
    }

    static List<String> spans(String text) {
        return SPAN.matcher(text)
                .results()
                .map(span -> span.group(1).replace("\\|", "|"))
                .toList();
    }

    List<Row> rows() {
        List<Row> rows = new ArrayList<>();
        List<String> header = List.of();
        for (int at = 0; at < lines.size(); at++) {
            String line = lines.get(at);
            if (!line.startsWith("|")) {
                header = List.of();
            } else if (header.isEmpty()) {
                header = cells(line);
                at++;
            } else {
                rows.add(new Row(header, cells(line)));
            }
        }
        return rows;
    }

    private static List<String> cells(String line) {
        return Arrays.stream(line.substring(1).split("(?<!\\\\)\\|", -1))
                .map(String::strip)
                .toList();
    }

    /** Returns links to files and headings, without those to other hosts. */
    List<String> links() {
        return lines.stream()
                .flatMap(line -> LINK.matcher(line).results())
                .map(link -> link.group(1))
                .filter(link -> !link.matches("[a-z]+:.*"))
                .toList();
    }

    /** Returns what links to places of this page may name. */
    Set<String> anchors() {
        Set<String> anchors = new TreeSet<>();
        for (String line : lines) {
            ID.matcher(line)
                    .results()
                    .map(MatchResult::group)
                    .forEach(id -> anchors.add(id.substring(4, id.length() - 1)));
            if (line.matches("#+ .*")) {
                anchors.add(line.replaceFirst("#+ ", "")
                        .replaceAll("\\[([^]]*)\\]\\([^)]*\\)", "$1")
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\w\\- ]", "")
                        .replace(' ', '-'));
            }
        }
        return anchors;
    }
}
