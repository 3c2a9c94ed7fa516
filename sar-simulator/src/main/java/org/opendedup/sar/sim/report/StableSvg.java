package org.opendedup.sar.sim.report;

import java.util.HashMap;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Rewrites a drawing so that its bytes depend only on its contents. lets-plot makes random ids, and writes coordinates
 * to the last digit, which may differ with the logarithm of another processor. Also removes invisible parts that use
 * space.
 */
final class StableSvg {
    private static final Pattern ID = Pattern.compile("\\bid=\"(\\w+)\"");
    /** An id, or a reference to one; colours have the same form. */
    private static final Pattern USE_OF_ID = Pattern.compile("(?<=\\bid=\"|#)\\w+");
    /** Attributes only, so that the text of an axis is not changed. */
    private static final Pattern ATTRIBUTE = Pattern.compile("=\"[^\"<>]*\"");

    private static final Pattern COORDINATE = Pattern.compile("-?\\d+\\.\\d+");
    private static final Pattern UNSEEN = Pattern.compile(
            " clip-bounds-jfx=\"[^\"]*\"| xmlns:xlink=\"[^\"]*\"| stroke-opacity=\"0\\.0\" stroke-width=\"0\\.0\"");
    private static final Pattern SPACE = Pattern.compile("(?<=>)\\s+(?=<)|(?<=\n)[ \t]+|[ \t]+(?=\n)");
    private static final double HUNDREDTHS = 100;

    private StableSvg() {}

    /** @param name name of the chart, used for its ids, because a page has several drawings */
    static String of(String svg, String name) {
        String seen = UNSEEN.matcher(svg).replaceAll("");
        String rounded = ATTRIBUTE
                .matcher(seen)
                .replaceAll(attribute -> Matcher.quoteReplacement(
                        COORDINATE.matcher(attribute.group()).replaceAll(StableSvg::rounded)));
        return SPACE.matcher(renamed(rounded, name)).replaceAll("").strip() + "\n";
    }

    private static String rounded(MatchResult coordinate) {
        return Numbers.text(Math.round(Double.parseDouble(coordinate.group()) * HUNDREDTHS) / HUNDREDTHS);
    }

    private static String renamed(String svg, String name) {
        Map<String, String> names = new HashMap<>();
        Matcher ids = ID.matcher(svg);
        while (ids.find()) {
            names.computeIfAbsent(ids.group(1), id -> name + "-" + (names.size() + 1));
        }
        return USE_OF_ID.matcher(svg).replaceAll(use -> names.getOrDefault(use.group(), use.group()));
    }
}
