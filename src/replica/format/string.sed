# Turn a Lua script into the lines of a C string, without comments and indentation.
s/^[[:blank:]]*//
/^--/d
/^$/d
s/[\\"]/\\&/g
s/.*/"&\\n"/
