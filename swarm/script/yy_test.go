package script
import ("testing")
func TestYY(t *testing.T) {
 for _, s := range []string{"return new Map([[1,2]])","return {a: new Set([1])}","return new Proxy(new Map, {})"} {
 t.Logf("%s %+v",s, perform(t,&desk{}, s)) }
}
