package org.opendedup.sar.sim.report;

import java.math.BigDecimal;
import java.math.MathContext;

/** Formats numbers for tables. */
final class Numbers {
    private static final MathContext FOUR_DIGITS = new MathContext(4);
    private static final double WHOLE_BELOW = 1e15;

    private Numbers() {}

    /** Returns whole numbers unchanged, others with four digits. */
    static String text(double value) {
        if (!Double.isFinite(value)) {
            return "–";
        }
        if (value == Math.rint(value) && Math.abs(value) < WHOLE_BELOW) {
            return Long.toString((long) value);
        }
        BigDecimal rounded = Math.abs(value) >= 1000
                ? BigDecimal.valueOf(Math.round(value))
                : new BigDecimal(value).round(FOUR_DIGITS);
        return rounded.stripTrailingZeros().toPlainString();
    }
}
