package org.opendedup.sar.sim.report;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

class ReportFolderTest {
    private static final String SVG = "http://www.w3.org/2000/svg";
    private static final Pattern LINE_TO = Pattern.compile("L");

    @TempDir
    Path folder;

    /** A row of the report below. */
    private record Row(
            String policy,
            int memory,
            double reads,
            @Nullable Double share) {}

    private static final List<Row> ROWS = List.of(
            new Row("lru", 2, 900.25, null),
            new Row("lru", 4, 1.0 / 3, 0.5),
            new Row("lru", 30, 294, 1.0),
            new Row("a <\"policy\">, with & marks", 2, 280, 1e-7),
            new Row("a <\"policy\">, with & marks", 4, 258, 123456789.125));

    private static Report report() {
        return new Report(
                "Reads & more",
                true,
                List.of(new Report.Fact("seed", "1")),
                List.of(
                        Section.of("Lines", "As measured.", chart("lines", Chart.Mark.DOTS)),
                        Section.of("Bars", "", chart("bars", Chart.Mark.BARS)),
                        Section.of("Rows", "", Table.of("rows", ROWS))),
                List.of(Table.of("rows", ROWS)));
    }

    private static Chart chart(String name, Chart.Mark mark) {
        List<Line> lines = new ArrayList<>();
        for (String policy : ROWS.stream().map(Row::policy).distinct().toList()) {
            Line.Builder line = Line.named(policy);
            for (Row row : ROWS) {
                if (row.policy().equals(policy) && mark == Chart.Mark.BARS) {
                    line.add("memory " + row.memory(), row.reads());
                } else if (row.policy().equals(policy)) {
                    line.add(row.memory(), row.reads());
                }
            }
            lines.add(line.build());
        }
        Axis x = mark == Chart.Mark.BARS ? Axis.names("memory") : Axis.log2("memory");
        return new Chart(name, "Reads", x, Axis.linear("reads"), mark, lines);
    }

    @Test
    void theSameReportGivesTheSameBytes() throws IOException {
        new ReportFolder(folder.resolve("one")).write(report());
        new ReportFolder(folder.resolve("other")).write(report());
        List<String> names = names(folder.resolve("one"));
        assertEquals(List.of("bars.svg", "lines.svg", "report.html", "rows.csv", "rows.json"), names);
        for (String name : names) {
            assertArrayEquals(
                    Files.readAllBytes(folder.resolve("one").resolve(name)),
                    Files.readAllBytes(folder.resolve("other").resolve(name)),
                    name);
        }
    }

    private static List<String> names(Path folder) throws IOException {
        try (var files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void thePageIsXmlHoldsEachChartAndRefersToNothingButTheRowsBesideIt() throws Exception {
        new ReportFolder(folder).write(report());
        String html = Files.readString(folder.resolve("report.html"));
        Document page = parse(html);
        assertEquals(2, page.getElementsByTagName("svg").getLength());
        assertEquals(
                "figure",
                page.getElementsByTagName("svg").item(0).getParentNode().getNodeName());
        assertTrue(html.contains("<strong>Synthetic:</strong>"));
        assertFalse(html.replace(SVG, "").contains("http"), "an address of elsewhere");
        for (String attribute : List.of("href", "src")) {
            Matcher reference = Pattern.compile(attribute + "=\"([^\"]*)\"").matcher(html);
            while (reference.find()) {
                assertTrue(Files.exists(folder.resolve(reference.group(1))), reference::group);
            }
        }
        assertIdsAreUnique(page);
    }

    private static void assertIdsAreUnique(Document page) {
        NodeList all = page.getElementsByTagName("*");
        TreeSet<String> ids = new TreeSet<>();
        for (int i = 0; i < all.getLength(); i++) {
            String id = ((Element) all.item(i)).getAttribute("id");
            assertTrue(id.isEmpty() || ids.add(id), id);
        }
    }

    @Test
    void aLineHasAsManyPointsAsRows() throws Exception {
        String svg = SvgChart.draw(chart("lines", Chart.Mark.DOTS));
        List<Integer> points = new ArrayList<>();
        NodeList paths = parse(svg).getElementsByTagName("path");
        for (int i = 0; i < paths.getLength(); i++) {
            Element path = (Element) paths.item(i);
            if (!path.getAttribute("fill").equals("none")) {
                continue;
            }
            // A line's path moves to its first point and then draws to each, that one included.
            points.add((int) LINE_TO.matcher(path.getAttribute("d")).results().count());
        }
        assertEquals(List.of(3, 2), points);
        assertEquals(ROWS.size(), parse(svg).getElementsByTagName("circle").getLength() - legendDots());
    }

    private static int legendDots() {
        return chart("lines", Chart.Mark.DOTS).lines().size();
    }

    @Test
    void whatIsWrittenOnAnAxisIsNotRounded() {
        Line line = Line.named("a").add(1, 0.00125).add(2, 0.00375).build();
        Chart chart = new Chart(
                "small", "1.23456 of all", Axis.linear("x"), Axis.log10("share"), Chart.Mark.DOTS, List.of(line));
        String svg = SvgChart.draw(chart);
        assertTrue(svg.contains("1.23456 of all"));
        assertTrue(svg.contains("0.0015"), "a line of the axis");
    }

    @Test
    void coordinatesHaveTwoDigitsAndIdsTheChartsName() {
        String svg = SvgChart.draw(chart("lines", Chart.Mark.DOTS));
        assertFalse(Pattern.compile("\\d\\.\\d{3}").matcher(svg).find());
        assertTrue(svg.contains("id=\"lines-1\""));
        assertEquals(svg.replace("lines-", "bars-"), SvgChart.draw(chart("bars", Chart.Mark.DOTS)));
        assertNotEquals(svg, SvgChart.draw(chart("lines", Chart.Mark.LINES)));
    }

    @Test
    void csvAndJsonHaveTheSameValues() throws IOException {
        Table table = Table.of("rows", ROWS);
        JsonNode json = new ObjectMapper().readTree(table.json());
        List<List<String>> csv = parseCsv(table.csv());
        assertEquals(List.of("policy", "memory", "reads", "share"), csv.get(0));
        assertEquals(json.size() + 1, csv.size());
        for (int row = 0; row < json.size(); row++) {
            for (int column = 0; column < csv.get(0).size(); column++) {
                JsonNode value = json.get(row).get(csv.get(0).get(column));
                assertEquals(
                        value.isNull() ? "" : value.asText(), csv.get(row + 1).get(column));
            }
        }
        assertEquals(1.0 / 3, Double.parseDouble(csv.get(2).get(2)));
    }

    /** Reads back what RFC 4180 says. */
    private static List<List<String>> parseCsv(String text) {
        Pattern field = Pattern.compile("(?:\"((?:[^\"]|\"\")*)\"|([^,\\n]*))(,|\\n)");
        List<List<String>> rows = new ArrayList<>(List.of(new ArrayList<>()));
        Matcher fields = field.matcher(text);
        while (fields.find()) {
            String quoted = fields.group(1);
            rows.get(rows.size() - 1).add(quoted == null ? fields.group(2) : quoted.replace("\"\"", "\""));
            if (fields.group(3).equals("\n")) {
                rows.add(new ArrayList<>());
            }
        }
        rows.remove(rows.size() - 1);
        return rows;
    }

    @Test
    void panelsStayInTheirOrderAndHaveTheirOwnTables() throws Exception {
        List<Line> lines = new ArrayList<>();
        for (String panel : List.of("web", "homes", "mail")) {
            lines.add(Line.named(panel, "sar").add(1, 2).add(2, 1).build());
            lines.add(Line.bound(panel, "floor").add(1, 1).add(2, 1).build());
        }
        Chart chart = new Chart("panels", "By trace", Axis.linear("hour"), Axis.log10("ms"), Chart.Mark.LINES, lines);
        String svg = SvgChart.draw(chart);
        for (String panel : List.of("(a) web", "(b) homes", "(c) mail")) {
            assertTrue(svg.contains(panel), panel);
        }
        Report report = new Report("t", false, List.of(), List.of(Section.of("s", "", chart)), List.of());
        new ReportFolder(folder).write(report);
        String html = Files.readString(folder.resolve("report.html"));
        assertEquals(3, parse(html).getElementsByTagName("table").getLength() - 1);
        assertFalse(html.contains("Synthetic"));
    }

    @Test
    void whatWouldSpoilAReportIsRefused() throws IOException {
        List<Line> lines = List.of(Line.named("a").add(1, 1).build());
        assertThrows(
                IllegalArgumentException.class,
                () -> new Chart("No Name", "", Axis.linear(""), Axis.linear(""), Chart.Mark.DOTS, lines));
        assertThrows(
                IllegalArgumentException.class,
                () -> new Chart("empty", "", Axis.linear(""), Axis.linear(""), Chart.Mark.DOTS, List.of()));
        assertThrows(IllegalArgumentException.class, () -> Table.of("nested", List.of(report())));
        Section twice = Section.of("", "", chart("c", Chart.Mark.DOTS), chart("c", Chart.Mark.DOTS));
        Report report = new Report("", false, List.of(), List.of(twice), List.of());
        ReportFolder target = new ReportFolder(folder);
        assertThrows(IllegalArgumentException.class, () -> target.write(report));
    }

    private static Document parse(String xml) throws Exception {
        String declared = xml.replace("<!DOCTYPE html>", "");
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new InputSource(new StringReader(declared)));
    }
}
