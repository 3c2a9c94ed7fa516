package org.opendedup.sar.sim.report;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Makes of a drawing one whose bytes depend on what is drawn alone. lets-plot draws ids at random, and writes coordinates to the last
 * digit, which the logarithm of another processor may change. Also drops what takes place without being seen.
 */
final class StableSvg {
    private static final Pattern ID = Pattern.compile("\\bid=\"([^\"]+)\"");
    private static final Pattern LONG_NUMBER = Pattern.compile("(?<=[MLHVACSQTZ ,(\"])-?\\d+\\.\\d+");
    private static final Pattern UNSEEN = Pattern.compile(
            " clip-bounds-jfx=\"[^\"]*\"| xmlns:xlink=\"[^\"]*\"| stroke-opacity=\"0\\.0\" stroke-width=\"0\\.0\"");
    private static final Pattern SPACE = Pattern.compile("(?<=>)\\s+(?=<)|(?<=\n)[ \t]+|[ \t]+(?=\n)");
    private static final double HUNDREDTHS = 100;

    private StableSvg() {}

    /** @param name of the chart, for its ids: pages hold many drawings */
    static String of(String svg, String name) {
        String seen = UNSEEN.matcher(svg).replaceAll("");
        String rounded = LONG_NUMBER.matcher(seen).replaceAll(number -> rounded(number.group()));
        return SPACE.matcher(renamed(rounded, name)).replaceAll("").strip() + "\n";
    }

    private static String rounded(String number) {
        return Numbers.text(Math.round(Double.parseDouble(number) * HUNDREDTHS) / HUNDREDTHS);
    }

    private static String renamed(String svg, String name) {
        Map<String, String> names = new LinkedHashMap<>();
        Matcher ids = ID.matcher(svg);
        while (ids.find()) {
            names.computeIfAbsent(ids.group(1), id -> name + "-" + (names.size() + 1));
        }
        String renamed = svg;
        for (Map.Entry<String, String> each : names.entrySet()) {
            renamed = renamed.replace(each.getKey(), each.getValue());
        }
        return renamed;
    }
}
